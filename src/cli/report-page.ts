import { printable } from '../sdk/printable.ts';
import { type ComparedReport, rowsBy, summaryOf } from './audit-report.ts';
import { count } from './format.ts';

/** A page that needs nothing else: no script, no font, no picture. */
export function reportPage(report: ComparedReport): string {
  const added = report.rows.filter(report.isNew);
  const comparison =
    report.since === undefined
      ? ''
      : `<p class="${added.length === 0 ? 'same' : 'added'}">${added.length === 0 ? 'Nothing' : count(added.length)} new since ${escaped(report.since)}</p>`;
  const parts = [
    added.length === 0
      ? ''
      : section(
          'New',
          ['Rule', 'Field', 'Source', 'Findings', 'First'],
          added.map(({ rule, field = '-', source = '-', ...row }) => [
            rule,
            field,
            source,
            row.count,
            row.first,
          ]),
        ),
    days(report.days),
    ...(['rule', 'field', 'source'] as const).map((by) => {
      const rows = rowsBy(report, by);
      const most = rows[0]?.count ?? 0;
      return section(
        `By ${by}`,
        [by === 'rule' ? 'Rule' : by === 'field' ? 'Field' : 'Source', 'Findings', '', 'First', 'Last'],
        rows.map((row) => [row.name, row.count, share(row.count / most), row.first, row.last]),
        rows.map((row) => row.isNew),
      );
    }),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>What redact found</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>What redact found</h1>
<p>${escaped(summaryOf(report))}</p>
${comparison}
</header>
<main>
${parts.join('')}
</main>
<footer>From the audits of millrace, which have rules and places, and no values.</footer>
</body>
</html>
`;
}

/** Characters that could be taken for markup, and those that control or reverse text. */
const escaped = (text: string) =>
  printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/** A bar, as a part of the longest one. */
interface Bar {
  /** Percent. */
  readonly width: number;
}
const share = (part: number): Bar => ({ width: Math.max(1, Math.round(100 * part)) });

type Cell = string | number | Bar;

function section(
  title: string,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  isNew: readonly boolean[] = [],
): string {
  if (rows.length === 0) return '';
  const cell = (value: Cell, i: number, place: number) => {
    if (typeof value === 'object') return `<td class="bar"><i style="width:${value.width}%"></i></td>`;
    if (typeof value === 'number') return `<td class="number">${count(value)}</td>`;
    const mark = i === 0 && isNew[place] ? ' <b>new</b>' : '';
    const kind = /^\d{4}-\d\d-\d\d$/.test(value) ? ' class="date"' : '';
    return `<td${kind}>${escaped(value)}${mark}</td>`;
  };
  const names = head
    .map((name) => `<th${name === 'Findings' ? ' class="number"' : ''}>${name}</th>`)
    .join('');
  const lines = rows.map((row, place) => `<tr>${row.map((value, i) => cell(value, i, place)).join('')}</tr>`);
  return `<section>
<h2>${title}</h2>
<div class="scroll"><table>
<thead><tr>${names}</tr></thead>
<tbody>
${lines.join('\n')}
</tbody>
</table></div>
</section>
`;
}

/** Labels that fit below the bars of days. */
const MOST_LABELS = 15;

/** Findings of the last 60 days that have some. */
function days(byDay: ComparedReport['days']): string {
  const names = Object.keys(byDay).slice(-60);
  if (names.length === 0) return '';
  const most = Math.max(...names.map((name) => byDay[name] as number));
  const step = Math.ceil(names.length / MOST_LABELS);
  const bars = names.map((name, i) => {
    const findings = byDay[name] as number;
    const label = `${name}: ${count(findings)}`;
    return `<li title="${escaped(label)}"><i style="height:${Math.max(1, Math.round((100 * findings) / most))}%"></i>${i % step === 0 ? `<span>${escaped(name.slice(5))}</span>` : ''}</li>`;
  });
  return `<section>
<h2>By day</h2>
<p class="most">most: ${count(most)} a day</p>
<ol class="days">
${bars.join('\n')}
</ol>
</section>
`;
}

const STYLE = `
:root { --text: #1c2024; --quiet: #60666e; --page: #f7f8f9; --card: #fff; --line: #dfe2e6; --bar: #3b6fd4; --new: #b4400a; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --quiet: #9aa1ab; --page: #14171a; --card: #1d2125; --line: #32383f; --bar: #6d9bf1; --new: #ff9a62; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 0 0 .75rem; font-size: 1.05rem; }
header p { margin: .25rem 0 0; color: var(--quiet); }
header .added { color: var(--new); font-weight: 600; }
section { margin-top: 1.25rem; padding: 1.1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
th { color: var(--quiet); font-weight: 500; font-size: .85rem; }
td { overflow-wrap: anywhere; min-width: 10rem; }
.date, .number { min-width: 0; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.bar { width: 30%; min-width: 6rem; vertical-align: middle; }
.bar i { display: block; height: .6rem; border-radius: 2px; background: var(--bar); }
b { margin-left: .35rem; color: var(--new); font-size: .8rem; }
.days { display: flex; align-items: flex-end; gap: 3px; height: 9rem; margin: 0; padding: 0 0 1.5rem; list-style: none; }
.days li { position: relative; flex: 1; display: flex; align-items: flex-end; height: 100%; max-width: 4rem; }
.days i { display: block; width: 100%; border-radius: 2px 2px 0 0; background: var(--bar); }
.days span { position: absolute; top: 100%; left: 50%; transform: translateX(-50%); padding-top: .25rem; color: var(--quiet); font-size: .7rem; white-space: nowrap; }
.most { margin: -.5rem 0 .5rem; color: var(--quiet); font-size: .85rem; }
footer { margin-top: 1.5rem; color: var(--quiet); font-size: .85rem; }
`;
