import engine from 'inlined:engine';
import examples from 'inlined:examples';
import type { Reply, Request, ShownProblem, ShownRun, ShownStep } from './messages.ts';
import { fragmentOf, textOf } from './share.ts';

/** Time without a key before the tests run. */
const TYPING_MS = 300;
/** A configuration may make a test endless, and one from an address may want to. */
const LONGEST_RUN_MS = 10_000;

const byId = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const editor = byId<HTMLTextAreaElement>('editor');
const lineNumbers = byId('line-numbers');
const problemList = byId('problems');
const testList = byId('tests');
const status = byId('status');
const drawing = byId<HTMLImageElement>('drawing');
const description = byId('description');
const slider = byId<HTMLInputElement>('instant');
const stepPanel = byId('steps');
const chooser = byId<HTMLSelectElement>('examples');

let selected: string | undefined;
let run: ShownRun | undefined;
let position: number | undefined;

/** The engine, in a thread of its own that can be ended. */
class Engine {
  readonly #url = URL.createObjectURL(new Blob([engine], { type: 'text/javascript' }));
  #worker: Worker | undefined;
  #last = 0;
  #deadline = 0;

  ask(request: Omit<Request, 'id'>, onReply: (reply: Reply) => void): void {
    const id = ++this.#last;
    clearTimeout(this.#deadline);
    // One that is still at work is not waited for.
    if (this.#deadline !== 0) this.#end();
    this.#worker ??= new Worker(this.#url);
    this.#worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      if (data.id !== this.#last) return;
      clearTimeout(this.#deadline);
      this.#deadline = 0;
      onReply(data);
    };
    const fail = (message: string) => {
      this.#end();
      onReply({ id, problems: [{ line: 1, column: 1, message }], tests: [], run: undefined });
    };
    this.#worker.onerror = ({ message }) => fail(`the engine failed: ${message}`);
    this.#deadline = window.setTimeout(
      () => fail(`the tests were ended, because they took longer than ${LONGEST_RUN_MS / 1000} s`),
      LONGEST_RUN_MS,
    );
    this.#worker.postMessage({ ...request, id } satisfies Request);
  }

  #end(): void {
    clearTimeout(this.#deadline);
    this.#deadline = 0;
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}

const worker = new Engine();

function runTests(): void {
  status.textContent = 'running …';
  worker.ask({ text: editor.value, selected, instant: position }, show);
}

function show({ problems, tests, run: shown }: Reply): void {
  const failed = tests.filter(({ isPassed }) => !isPassed).length;
  const passed = `${tests.length - failed} passed`;
  status.textContent = problems.length > 0 ? '' : failed === 0 ? passed : `${passed}, ${failed} failed`;
  showProblems([...problems, ...(shown?.findings ?? [])]);
  testList.replaceChildren(
    ...tests.map(({ name, isPassed, time }) => {
      const button = element('button', `${isPassed ? '✓' : '✗'} ${name} (${time})`);
      button.className = isPassed ? 'passed' : 'failed';
      button.setAttribute('aria-pressed', String(name === shown?.name));
      button.addEventListener('click', () => {
        selected = name;
        position = undefined;
        runTests();
      });
      return item(button);
    }),
  );
  // While the configuration is wrong, the last drawing stays, and is seen to be an old one.
  document.body.classList.toggle('is-stale', shown === undefined);
  if (shown === undefined) return;
  run = shown;
  showDrawing(shown);
  showSteps(shown);
}

/** As an image: what stands in a drawing can run no script and load nothing. */
function showDrawing({ svg, description: text, name }: ShownRun): void {
  URL.revokeObjectURL(drawing.src);
  drawing.hidden = svg === '';
  if (svg !== '') drawing.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  drawing.alt = `Marble diagram of “${name}”; the same as text is below`;
  description.textContent = text;
}

function showSteps({ steps, isCut }: ShownRun): void {
  stepPanel.hidden = steps.length === 0;
  slider.max = String(Math.max(0, steps.length - 1));
  const index = Math.min(position ?? steps.length - 1, steps.length - 1);
  slider.value = String(index);
  const step = steps[index];
  byId<HTMLButtonElement>('back').disabled = index <= 0;
  byId<HTMLButtonElement>('forward').disabled = index >= steps.length - 1;
  if (step === undefined) return;
  const end = isCut ? `first ${steps.length} instants` : `${steps.length} instants`;
  slider.setAttribute('aria-valuetext', step.at);
  byId('now').textContent = `at ${step.at}, ${index + 1} of the ${end}`;
  showStep(step);
}

function showStep({ facts, happened }: ShownStep): void {
  byId('facts').replaceChildren(
    ...facts.flatMap(([name, value]) => [element('dt', name), element('dd', value)]),
  );
  const nothing = element('li', 'nothing that the drawing shows');
  byId('happened').replaceChildren(
    ...(happened.length === 0 ? [nothing] : happened.map((text) => element('li', text))),
  );
}

function goTo(index: number): void {
  if (run === undefined) return;
  position = Math.max(0, Math.min(index, run.steps.length - 1));
  showSteps(run);
  later(runTests);
}

function showProblems(problems: readonly ShownProblem[]): void {
  problemList.replaceChildren(
    ...problems.map(({ line, column, message, details }) => {
      const button = element('button', `${line}:${column} ${message}`);
      button.addEventListener('click', () => select(line, column));
      return item(button, ...(details === undefined ? [] : [element('pre', details)]));
    }),
  );
  const wrong = new Set(problems.map(({ line }) => line));
  const lines = editor.value.split('\n');
  lineNumbers.replaceChildren(
    ...lines.map((_, index) => {
      const number = element('span', String(index + 1));
      if (wrong.has(index + 1)) number.className = 'wrong';
      return number;
    }),
  );
}

/** Puts the cursor to a place of the editor. */
function select(line: number, column: number): void {
  const lines = editor.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
  editor.focus();
  editor.setSelectionRange(start, start + 1);
  editor.scrollTop = (line - 4) * Number.parseFloat(getComputedStyle(editor).lineHeight);
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function item(...content: HTMLElement[]): HTMLElement {
  const made = document.createElement('li');
  made.append(...content);
  return made;
}

let timer = 0;
function later(work: () => void): void {
  clearTimeout(timer);
  timer = window.setTimeout(work, TYPING_MS);
}

function load(text: string): void {
  editor.value = text;
  selected = undefined;
  position = undefined;
  runTests();
}

async function share(): Promise<void> {
  const fragment = await fragmentOf(editor.value);
  if (fragment === undefined) {
    status.textContent = 'too long to be shared as an address';
    return;
  }
  history.replaceState(undefined, '', fragment);
  const copied = await navigator.clipboard?.writeText(location.href).catch(() => 'not allowed');
  status.textContent = copied === undefined && navigator.clipboard ? 'address copied' : 'see the address bar';
}

async function loadFragment(): Promise<void> {
  try {
    load((await textOf(location.hash)) ?? examples[0]?.text ?? '');
  } catch (error) {
    load(examples[0]?.text ?? '');
    status.textContent = `the address holds no configuration: ${error instanceof Error ? error.message : ''}`;
  }
}

chooser.replaceChildren(...examples.map(({ name }) => element('option', name)));
chooser.addEventListener('change', () => load(examples[chooser.selectedIndex]?.text ?? ''));
byId('share').addEventListener('click', () => void share());
editor.addEventListener('input', () => later(runTests));
editor.addEventListener('scroll', () => {
  lineNumbers.scrollTop = editor.scrollTop;
});
editor.addEventListener('keydown', (event) => {
  // Tab moves on to the next control, as in every form; Ctrl-Enter runs at once.
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) runTests();
});
slider.addEventListener('input', () => goTo(Number(slider.value)));
byId('back').addEventListener('click', () => goTo(Number(slider.value) - 1));
byId('forward').addEventListener('click', () => goTo(Number(slider.value) + 1));
window.addEventListener('hashchange', () => void loadFragment());
void loadFragment();
