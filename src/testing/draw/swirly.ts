import { MillraceError } from '../../sdk/errors.ts';
import { LINE, MARBLE, OPERATOR, TROUBLE } from './svg-elements.ts';

/** A message of a swirly stream: a marble, the end or an error. Its frame is a pixel. */
export interface SwirlyMessage {
  readonly frame: number;
  readonly notification: { readonly kind: 'N'; readonly value: string } | { readonly kind: 'C' | 'E' };
  readonly styles?: Readonly<Record<string, string | number>>;
}

type Render = (spec: object, options: object) => { readonly xml: string };

const STYLES = {
  background_color: 'transparent',
  canvas_padding: 0,
  frame_width: 1,
  event_radius: MARBLE.radius,
  event_stroke_width: 1.5,
  event_value_font_family: MARBLE.font,
  event_value_font_size: 15,
  event_value_color: MARBLE.ink,
  stacking_height: MARBLE.stacking,
  arrow_stroke_color: LINE,
  arrow_stroke_width: 1.5,
  arrow_width: 8,
  completion_height: 2 * MARBLE.radius - 2,
  completion_stroke_color: MARBLE.ink,
  completion_stroke_width: 2.5,
  error_size: 16,
  error_color: TROUBLE,
  error_stroke_width: 3,
  operator_height: OPERATOR.height,
  operator_spacing: 0,
  operator_corner_radius: 6,
  operator_fill_color: OPERATOR.fill,
  operator_stroke_color: OPERATOR.stroke,
  operator_stroke_width: 1.25,
};

/** swirly's renderer of marble diagrams, asked for a stream or an operator at a time. */
export class Swirly {
  readonly #render: Render;

  constructor(render: Render) {
    this.#render = render;
  }

  /** A line of `length` pixels with its messages. */
  stream(messages: readonly SwirlyMessage[], length: number, hasArrow: boolean): string {
    const duration = length - 2 * MARBLE.radius;
    return this.#inner({ kind: 'S', title: null, duration, messages }, hasArrow ? {} : { arrow_width: 0 });
  }

  /** The box of an operator, for its text to be put upon. */
  operator(width: number, height: number): string {
    const styles = { minimum_width: width, operator_height: height };
    const box = this.#inner({ kind: 'O', title: [{ type: 'text', value: '' }] }, styles);
    return box.replace(/<text[^>]*\/>/, '');
  }

  #inner(item: object, styles: object): string {
    const { xml } = this.#render({ content: [item] }, { styles: { ...STYLES, ...styles } });
    return rounded(plain(xml));
  }
}

/**
 * The content alone, where swirly puts it: it moves a stream whose first marble reaches over the start to the right.
 * Renderers differ on `dominant-baseline`, and agree on `dy`.
 */
function plain(xml: string): string {
  return xml
    .replace(/^<svg[^>]*>|<\/svg>$/g, '')
    .replace(/^<g transform="[^"]*">/, '<g>')
    .replaceAll('dominant-baseline="middle"', 'dy="0.35em"');
}

/** Two decimals will do, and do not differ between machines. */
function rounded(xml: string): string {
  return xml.replace(/\d+\.\d{3,}/g, (number) => String(Math.round(Number(number) * 100) / 100));
}

/**
 * Loads the renderer: only pictures need it, so it is an optional dependency, and a pipeline never loads it.
 *
 * @throws MillraceError `MILLRACE_TEST_SVG` if it is not installed
 */
export async function loadSwirly(): Promise<Swirly> {
  try {
    const { renderMarbleDiagram } = await import('@swirly/renderer-node');
    return new Swirly(renderMarbleDiagram);
  } catch (cause) {
    const message =
      'pictures need the package @swirly/renderer-node, which is not installed: npm install --save-dev @swirly/renderer-node';
    throw new MillraceError('MILLRACE_TEST_SVG', message, { cause });
  }
}
