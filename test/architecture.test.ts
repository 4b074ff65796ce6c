import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { importedPath, importsOf, sourceFiles, withoutComments } from './support/sources.ts';

/**
 * The layers, from the bottom up, each with the layers that it may import. A file belongs to the first layer one of
 * whose prefixes its path begins with. Types count: they are where a direction is lost first.
 */
const LAYERS = {
  operators: { files: ['operators/'], imports: [] },
  /** What a plugin may use: `millrace/plugin`. */
  sdk: { files: ['src/sdk/', 'src/version.ts', 'src/node-version.ts'], imports: ['operators'] },
  /** What ours can do, anyone's can: see the next test. */
  plugins: { files: ['plugins/'], imports: ['operators', 'sdk'] },
  /** What is done with rows, in this thread or in another one. */
  rows: { files: ['src/rows/'], imports: ['operators', 'sdk'] },
  /** What this thread needs of others. */
  workerPool: { files: ['src/worker-pool/'], imports: ['operators', 'sdk'] },
  /** What runs in other threads, which load built-in masks without their schemas. Nothing imports it. */
  workers: { files: ['src/workers/'], imports: ['operators', 'sdk', 'plugins', 'rows', 'workerPool'] },
  state: { files: ['src/state/'], imports: ['operators', 'sdk'] },
  buffer: { files: ['src/buffer/'], imports: ['operators', 'sdk', 'state'] },
  host: { files: ['src/host/'], imports: ['operators', 'sdk'] },
  /** Plugins reach a pipeline by its configuration (`loaded_plugin`), never by an import. */
  engine: {
    files: ['src/engine/'],
    imports: ['operators', 'sdk', 'rows', 'workerPool', 'state', 'buffer', 'host'],
  },
  config: { files: ['src/config/'], imports: ['sdk', 'plugins', 'host'] },
  graph: { files: ['src/graph/'], imports: ['sdk', 'config'] },
  testing: {
    files: ['src/testing/'],
    imports: [
      'operators',
      'sdk',
      'config',
      'engine',
      'rows',
      'workerPool',
      'state',
      'buffer',
      'host',
      'graph',
    ],
  },
  admin: { files: ['src/admin/'], imports: ['operators', 'sdk', 'buffer', 'engine'] },
  /** Masks inside other programs: `millrace/redact`, and a package of its own. Nothing imports it. */
  redact: { files: ['redact/'], imports: ['operators', 'plugins'] },
  entry: { files: ['src/index.ts'], imports: ['plugins', 'sdk', 'config', 'engine', 'state'] },
  cli: {
    files: ['src/cli/'],
    // `redact`, `scan` and `packs` use the packs and the mask of a plugin without a pipeline.
    imports: [
      'operators',
      'sdk',
      'plugins',
      'config',
      'engine',
      'state',
      'buffer',
      'host',
      'graph',
      'testing',
      'admin',
    ],
  },
} as const satisfies Record<string, { files: readonly string[]; imports: readonly string[] }>;

type Layer = keyof typeof LAYERS;

/** Imports against the direction, each with its reason. One that is no longer there must leave the list. */
const EXCUSED_IMPORTS: readonly { from: string; to: string; why: string }[] = [];

/**
 * Folders that still import each other. Nothing may be added, and a pair that no longer does must leave the list.
 */
const ENTANGLED_FOLDERS: readonly string[] = ['src/testing/conformance ↔ src/testing/conformance/checks'];

/** What `src` and `plugins` may import of `operators`: what users see, and what millrace shares with it. */
const FACES_OF_OPERATORS: readonly string[] = [
  'operators/index.ts',
  'operators/node.ts',
  'operators/internal.ts',
  'operators/internal-files.ts',
  'operators/internal-masks.ts',
  'operators/internal-redact.ts',
];

/** Places that may read a clock or set a timer past the RxJS schedulers, each with its reason. */
const EXCUSED_CLOCKS: readonly { file: string; code: string; why: string }[] = [
  {
    file: 'src/cli/main.ts',
    code: 'setImmediate(',
    why: 'lets standard output drain before the process exits; no pipeline runs any more',
  },
  {
    file: 'redact/streams.ts',
    code: 'setTimeout(',
    why: 'streams of the web and of Node.js, which know no scheduler; the operator `redactStream` has one',
  },
  {
    file: 'plugins/time-limits/bounded-time.ts',
    code: 'performance.now',
    why: 'the time that masking takes is that of the processor: it decides only what is watched',
  },
  {
    file: 'plugins/kafka/client.ts',
    code: 'setTimeout(',
    why: 'how long the socket of a broker may be silent: a method of the socket, which there is in real time only',
  },
  {
    file: 'operators/support/clock.ts',
    code: 'performance.now',
    why: 'a clock that cannot be set, which RxJS has for animations only; in virtual time it is not read',
  },
  {
    file: 'src/testing/virtual-time.ts',
    code: 'performance.now',
    why: 'how long a run in virtual time takes in real time, to end one that goes on for ever',
  },
];

const CLOCKS =
  /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\(|\bDate\.now\b|\bnew Date\(\s*\)|(?<!new )\bDate\(|\bperformance\.now\b|\bprocess\.(?:hrtime|nextTick)\b|['"](?:node:)?timers(?:\/promises)?['"]/g;

const sources = sourceFiles('operators', 'plugins', 'redact', 'src');

function layerOf(path: string): Layer | undefined {
  return (Object.keys(LAYERS) as Layer[]).find((layer) =>
    LAYERS[layer].files.some((prefix) => path.startsWith(prefix)),
  );
}

/** Every import of one source by another. */
const imports = sources.flatMap(({ path, imports }) =>
  imports.flatMap(({ specifier, isTypeOnly }) => {
    const to = importedPath(path, specifier);
    return to === undefined ? [] : [{ from: path, to, isTypeOnly }];
  }),
);

const isExcused = ({ from, to }: { from: string; to: string }) =>
  EXCUSED_IMPORTS.some((excuse) => excuse.from === from && excuse.to === to);

describe('the direction of imports', () => {
  it('knows the layer of every file', () => {
    expect(sources.map(({ path }) => path).filter((path) => layerOf(path) === undefined)).toEqual([]);
  });

  it.each(Object.keys(LAYERS) as Layer[])('is kept by %s', (layer) => {
    const allowed: readonly string[] = [layer, ...LAYERS[layer].imports];
    const wrong = imports
      .filter(({ from, to }) => layerOf(from) === layer && !allowed.includes(layerOf(to) ?? ''))
      .filter((found) => !isExcused(found))
      .map(({ from, to }) => `${from} imports ${to}, of the layer ${layerOf(to)}`);
    expect(wrong).toEqual([]);
  });

  it('has layers that import lower ones only', () => {
    const order = Object.keys(LAYERS);
    const upwards = Object.entries(LAYERS).flatMap(([layer, { imports }]) =>
      imports
        .filter((other) => order.indexOf(other) >= order.indexOf(layer))
        .map((other) => `${layer} → ${other}`),
    );
    expect(upwards).toEqual([]);
  });

  it('has no excuse that is not needed', () => {
    const stale = EXCUSED_IMPORTS.filter(
      ({ from, to }) => !imports.some((found) => found.from === from && found.to === to && found.isTypeOnly),
    );
    expect(stale).toEqual([]);
  });

  it('names files that exist', () => {
    const known = new Set(sources.map(({ path }) => path));
    expect(imports.filter(({ to }) => !known.has(to))).toEqual([]);
  });

  it('runs in no circle', () => {
    expect(circles(imports.filter(({ isTypeOnly }) => !isTypeOnly))).toEqual([]);
  });

  it('runs in no circle of types either where files are followed and written', () => {
    const files = imports.filter(({ from }) => from.startsWith('operators/files/'));
    expect(files.length).toBeGreaterThan(0);
    expect(circles(files)).toEqual([]);
  });

  it('would find a circle', () => {
    const edges = ['a b', 'b c', 'c b', 'a c'].map((edge) => edge.split(' '));
    expect(circles(edges.map(([from = '', to = '']) => ({ from, to })))).toEqual(['b → c → b']);
  });
});

describe('folders', () => {
  /** Faces stand for their folder, and may gather what is below it. */
  const crossing = imports
    .filter(({ from }) => !/(?:^|\/)index\.ts$/.test(from) && !FACES_OF_OPERATORS.includes(from))
    .map(({ from, to }) => ({ from: dirname(from), to: dirname(to) }));

  it('do not import each other, neither for types', () => {
    expect(mutual(crossing).filter((pair) => !ENTANGLED_FOLDERS.includes(pair))).toEqual([]);
  });

  it('have no excuse that is not needed', () => {
    expect(ENTANGLED_FOLDERS.filter((pair) => !mutual(crossing).includes(pair))).toEqual([]);
  });

  it('would be found if they did', () => {
    const edges = ['a b', 'b c', 'c b', 'b c', 'a a'].map((edge) => edge.split(' '));
    expect(mutual(edges.map(([from = '', to = '']) => ({ from, to })))).toEqual(['b ↔ c']);
  });
});

/** The pairs of different nodes with an edge in each direction, as `a ↔ b`. */
function mutual(edges: readonly { from: string; to: string }[]): string[] {
  const known = new Set(edges.map(({ from, to }) => `${from} ↔ ${to}`));
  return [...known].filter((pair) => {
    const [from = '', to = ''] = pair.split(' ↔ ');
    return from < to && known.has(`${to} ↔ ${from}`);
  });
}

/** Circles among edges, each as the path that leads back to its first node. */
function circles(edges: readonly { from: string; to: string }[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (node: string, trail: readonly string[]) => {
    const start = trail.indexOf(node);
    if (start !== -1) found.push([...trail.slice(start), node].join(' → '));
    if (start !== -1 || done.has(node)) return;
    for (const to of next.get(node) ?? []) visit(to, [...trail, node]);
    done.add(node);
  };
  for (const node of next.keys()) visit(node, []);
  return found;
}

describe('time', () => {
  const clocks = sources.flatMap(({ path, text }) =>
    withoutComments(text)
      .split('\n')
      .flatMap((line, i) =>
        [...line.matchAll(CLOCKS)].map(([code]) => ({
          file: path,
          code,
          place: `${path}:${i + 1}: ${code}`,
        })),
      ),
  );
  const matches = (clock: { file: string; code: string }) => (excuse: { file: string; code: string }) =>
    excuse.file === clock.file && excuse.code === clock.code;

  it('comes from RxJS schedulers, so that TestScheduler governs it', () => {
    expect(clocks.filter((clock) => !EXCUSED_CLOCKS.some(matches(clock))).map(({ place }) => place)).toEqual(
      [],
    );
  });

  it('has no excuse that is not needed', () => {
    expect(EXCUSED_CLOCKS.filter((excuse) => !clocks.some(matches(excuse)))).toEqual([]);
  });

  it.each([
    ['setTimeout(f, 1)', 'setTimeout('],
    ["import { setTimeout as pause } from 'node:timers/promises';", "'node:timers/promises'"],
    ['const t = Date.now();', 'Date.now'],
    ['new Date()', 'new Date()'],
    ['performance.now()', 'performance.now'],
  ])('is seen in `%s`', (code, found) => {
    expect(code.match(CLOCKS)).toEqual([found]);
  });

  it('is not read by `new Date(time)`', () => {
    expect('new Date(time).toISOString()'.match(CLOCKS)).toBeNull();
  });
});

describe('flags of V8', () => {
  const SETS = /\bsetFlagsFromString\b/;

  it('are set by the command line only: a program that imports millrace keeps its own', () => {
    const setting = sources.filter(({ text }) => SETS.test(withoutComments(text))).map(({ path }) => path);
    expect(setting.filter((path) => !path.startsWith('src/cli/'))).toEqual([]);
    expect(setting).toContain('src/cli/v8-flags.ts');
  });
});

describe('docs/architecture.md', () => {
  it('names each file of the engine in its reading order, once, and no other', () => {
    const page = readFileSync('docs/architecture.md', 'utf8');
    const part = /^### The files of `src\/engine`.*?(?=^### )/ms.exec(page)?.[0] ?? '';
    const named = [...part.matchAll(/`([\w-]+\.ts)`/g)].map(([, file]) => `src/engine/${file}`);
    const files = sources.map(({ path }) => path).filter((path) => path.startsWith('src/engine/'));
    expect(named.sort()).toEqual(files.sort());
  });

  it('has a line for every folder', () => {
    const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
    const folders = new Set(sources.map(({ path }) => `${dirname(path)}/`));
    folders.delete('src/');
    expect([...folders].filter((folder) => !page.includes(`\`${folder}\``))).toEqual([]);
  });
});

describe('the search for imports', () => {
  it('finds every form', () => {
    const text = [
      "import './effect.ts';",
      "import fs from 'node:fs';",
      "import type { A } from './a.ts';",
      "import { type B } from './b.ts';",
      'import {',
      '  c,',
      "} from './c.ts';",
      "export * from './d.ts';",
      "export type { E } from './e.ts';",
      "const f = await import('./f.ts');",
      "// import './comment.ts';",
      "/** import('./comment.ts') */",
      "export const url = 'from';",
    ].join('\n');
    expect(importsOf(text)).toEqual([
      { specifier: './effect.ts', isTypeOnly: false },
      { specifier: 'node:fs', isTypeOnly: false },
      { specifier: './a.ts', isTypeOnly: true },
      { specifier: './b.ts', isTypeOnly: false },
      { specifier: './c.ts', isTypeOnly: false },
      { specifier: './d.ts', isTypeOnly: false },
      { specifier: './e.ts', isTypeOnly: true },
      { specifier: './f.ts', isTypeOnly: false },
    ]);
  });
});

describe('operators', () => {
  const imported = imports.filter(({ from, to }) => to.startsWith('operators/') && from !== to);
  const isOutside = ({ from }: { from: string }) => !from.startsWith('operators/');

  it('are imported through their faces only, for types as well', () => {
    const deep = imported.filter((found) => isOutside(found) && !FACES_OF_OPERATORS.includes(found.to));
    expect(deep.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it('do not import their own faces', () => {
    const own = imported.filter((found) => !isOutside(found) && FACES_OF_OPERATORS.includes(found.to));
    expect(own.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it('share with millrace what it uses, and nothing that users see', () => {
    const nameOf = (imported: string) => imported.replace(/^type /, '').replace(/ as .*/, '');
    const namesIn = (text: string, statement: RegExp) =>
      [...text.matchAll(statement)].flatMap(([, names = '']) =>
        names.split(',').flatMap((name) => (name.trim() === '' ? [] : [nameOf(name.trim())])),
      );
    const exported = (faces: readonly string[]) =>
      sources
        .filter(({ path }) => faces.includes(path))
        .flatMap(({ text }) => namesIn(text, /^export (?:type )?\{([^}]*)\}/gm));
    const used = new Set(
      sources
        .filter(({ path }) => !path.startsWith('operators/'))
        .flatMap(({ text }) => namesIn(text, /\{([^}]*)\} from '[./]*\/operators\/internal[\w-]*\.ts'/g)),
    );
    const internal = exported(FACES_OF_OPERATORS.slice(2));
    const seen = new Set(exported(FACES_OF_OPERATORS.slice(0, 2)));
    expect(internal.filter((name) => !used.has(name))).toEqual([]);
    // `millrace/redact` has types without those of RxJS, which the face that users see needs.
    const shared = exported(['operators/internal-redact.ts']);
    expect(internal.filter((name) => seen.has(name) && !shared.includes(name))).toEqual([]);
  });
});

describe('Built-in plugins', () => {
  it('import what any plugin can: the SDK and operators', () => {
    const others = imports.filter(
      ({ from, to }) =>
        from.startsWith('plugins/') && !/^(?:plugins|operators)\/|^src\/sdk\/index\.ts$/.test(to),
    );
    expect(others).toEqual([]);
  });
});

describe('Tests in virtual time', () => {
  it('see the engine by its manager and its observer', () => {
    const seen = imports.filter(
      ({ from, to }) => from.startsWith('src/testing/') && to.startsWith('src/engine/'),
    );
    const files = [...new Set(seen.map(({ to }) => to))].sort();
    expect(files).toEqual(['src/engine/manager.ts', 'src/engine/observer.ts']);
  });
});

describe('The engine', () => {
  it('reaches no plugin by any chain of imports', () => {
    const reached = new Set(sources.map(({ path }) => path).filter((path) => path.startsWith('src/engine/')));
    for (const file of reached) {
      for (const { from, to } of imports) if (from === file) reached.add(to);
    }
    expect([...reached].filter((path) => path.startsWith('plugins/'))).toEqual([]);
  });

  it('asks plugins what they can do, and never for their names', () => {
    const named = sourceFiles('src')
      .filter(
        ({ path }) =>
          !['src/config/registry.ts', 'src/host/host-config.ts', 'src/sdk/config.ts'].includes(path),
      )
      .flatMap(({ path, text }) => {
        const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
        return [...code.matchAll(/'(?:file|disk|stdout|regex_mask|entropy_mask|host_exec|beacons)'/g)].map(
          ([name]) => `${path}: ${name}`,
        );
      });
    expect(named).toEqual([]);
  });
});
