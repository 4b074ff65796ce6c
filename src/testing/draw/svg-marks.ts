import { element } from '../../graph/xml.ts';
import type { Glyph } from './cells.ts';
import {
  CARD,
  DEAD,
  HALO,
  INK,
  LINE,
  letterColours,
  MARBLE,
  moved,
  TROUBLE,
  text,
  textWidth,
  WAIT,
} from './svg-elements.ts';

/** The marks of a run. Each is drawn about the point it stands at. */

const PILL_SIZE = 12;
const ICON = 13;

const pillText = ({ text, count }: Glyph) =>
  [text, count > 1 ? `×${count}` : ''].filter((part) => part !== '').join(' ');
const pillIcon = ({ kind }: Glyph) => (kind === 'event' ? 0 : ICON + 4);

export function pillWidth(glyph: Glyph): number {
  return textWidth(pillText(glyph), PILL_SIZE) + pillIcon(glyph) + 18;
}

/** Many marks of a kind, and how many. */
export function pill(glyph: Glyph): string {
  const width = pillWidth(glyph);
  const [fill, line] = pillColours(glyph);
  const height = 24;
  return [
    element('rect', {
      x: -width / 2,
      y: -height / 2,
      width,
      height,
      rx: height / 2,
      fill,
      stroke: line,
      'stroke-width': glyph.isChanged ? 3 : 1.5,
    }),
    pillIcon(glyph) === 0 ? '' : moved(-width / 2 + 8 + ICON / 2, 0, icon(glyph.kind, glyph.isMeant)),
    text(pillIcon(glyph) / 2, 4, pillText(glyph), {
      'text-anchor': 'middle',
      'font-size': PILL_SIZE,
      'font-weight': glyph.isChanged ? 'bold' : undefined,
      fill: INK,
    }),
  ].join('');
}

function pillColours({ kind, letter, isMeant }: Glyph): readonly [fill: string, line: string] {
  if (kind === 'event') return letterColours(letter);
  const line = kind === 'retry' ? WAIT : kind === 'drop' ? dropColour(isMeant) : DEAD;
  return [CARD.fill, line];
}

/** A circle that turns back, with the number of the attempt that failed. */
export function retry({ text: attempt }: Pick<Glyph, 'text'>): string {
  const size = attempt.length > 2 ? 9 : 11;
  return [
    element('circle', { r: 12, fill: CARD.fill }),
    turn(11, 1.75),
    text(0, size * 0.36, attempt, {
      'text-anchor': 'middle',
      'font-size': size,
      fill: WAIT,
      'font-weight': 'bold',
    }),
  ].join('');
}

function turn(radius: number, width: number): string {
  const at = (angle: number, distance = radius) =>
    `${distance * Math.cos((angle * Math.PI) / 180)} ${distance * Math.sin((angle * Math.PI) / 180)}`;
  // Clockwise from the right almost round to it, and a head that points on along the circle.
  const arc = `M ${at(0)} A ${radius} ${radius} 0 1 1 ${at(-70)}`;
  const reach = 1.6 + radius * 0.18;
  const tip = -70 + (reach / radius) * 92;
  const head = `M ${at(-72, radius - reach)} L ${at(-72, radius + reach)} L ${at(tip, radius - 0.6)} Z`;
  return (
    element('path', { d: rounded(arc), fill: 'none', stroke: WAIT, 'stroke-width': width }) +
    element('path', { d: rounded(head), fill: WAIT })
  );
}

const rounded = (path: string) =>
  path.replace(/-?\d+\.\d+/g, (n) => String(Math.round(Number(n) * 100) / 100));

/** An event; one that was dropped has a cross. */
export function marble({ kind, text: name, letter, isChanged, isMeant }: Glyph): string {
  const [fill, line] = letterColours(letter);
  const isDropped = kind === 'drop';
  const size = [...name].length > 2 ? 12 : 15;
  return [
    element('circle', {
      r: MARBLE.radius - (isChanged ? 1.5 : 0.75),
      fill: isDropped ? CARD.fill : fill,
      stroke: isDropped ? dropColour(isMeant) : kind === 'dead_letter' ? DEAD : line,
      'stroke-width': isChanged ? 3 : 1.5,
    }),
    text(0, size * 0.35, name, {
      'text-anchor': 'middle',
      'font-size': size,
      'font-weight': isChanged ? 'bold' : undefined,
      fill: INK,
    }),
    isDropped ? strike(isMeant) : '',
  ].join('');
}

/** A bar where a collector completed, and a cross where it failed. */
export function endMark(kind: Glyph['kind']): string {
  if (kind === 'error') return cross(8, 3);
  const height = MARBLE.radius - 1;
  return element('path', { d: `M 0 ${-height} V ${height}`, stroke: INK, 'stroke-width': 2.5 });
}

/** A cross at the edge of a marble, which leaves its letter to be read. */
function strike(isMeant = false): string {
  const at = MARBLE.radius * 0.72;
  return moved(at, -at, element('circle', { r: 7, fill: CARD.fill }) + cross(4, 2.25, dropColour(isMeant)));
}

/** Only what nobody asked for is in the colour of trouble. */
const dropColour = (isMeant = false) => (isMeant ? LINE : TROUBLE);

function cross(reach: number, width: number, stroke: string = TROUBLE): string {
  const d = `M ${-reach} ${-reach} L ${reach} ${reach} M ${-reach} ${reach} L ${reach} ${-reach}`;
  return element('path', { d, stroke, 'stroke-width': width });
}

/** Leads from a marble down to the dead letter. */
export function downward(): string {
  return element('path', {
    d: 'M 0 -6 V 6 M -4 2 L 0 6 L 4 2',
    fill: 'none',
    stroke: DEAD,
    'stroke-width': 1.75,
    'stroke-linejoin': 'round',
  });
}

/** A small mark for the legend and for pills. */
export function icon(kind: Glyph['kind'], isMeant = false): string {
  switch (kind) {
    case 'retry':
      return turn(6, 1.5);
    case 'drop':
      return (
        element('circle', { r: 6.5, fill: CARD.fill, stroke: dropColour(isMeant), 'stroke-width': 1.25 }) +
        cross(3, 2, dropColour(isMeant))
      );
    case 'dead_letter':
      return downward();
    case 'error':
      return cross(5, 2.5);
    case 'end':
      return element('path', { d: 'M 0 -7 V 7', stroke: INK, 'stroke-width': 2.5 });
    case 'event':
      return '';
  }
}

/** Two strokes across a line where time was too long to be drawn. */
export function pauseMark(): string {
  return [
    element('rect', { x: -4, y: -3, width: 8, height: 6, fill: CARD.fill }),
    element('path', { d: 'M -6 5 L -2 -5 M 2 5 L 6 -5', fill: 'none', stroke: LINE, 'stroke-width': 1.25 }),
  ].join('');
}

/** Words below a mark. */
export function note(words: string, y: number, fill: string): string {
  return text(0, y, words, { 'text-anchor': 'middle', 'font-size': 11, fill, ...HALO });
}
