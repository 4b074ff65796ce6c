/** What XML 1.0 cannot represent: control characters, halves of surrogate pairs, and two more. */
const NOT_XML = /(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/**
 * Text for an attribute or between tags. Characters that XML cannot represent become U+FFFD.
 *
 * @example
 * escapeXml('a "<b>"'); // 'a &quot;&lt;b&gt;&quot;'
 */
export function escapeXml(text: string): string {
  return text.replace(NOT_XML, '\ufffd').replace(/[&<>"\t\n\r]/g, (char) => ENTITIES[char] as string);
}

export type Attributes = Readonly<Record<string, string | number | undefined>>;

/**
 * An element with its attributes; `content` is XML already.
 *
 * @example
 * element('text', { x: 1.253, fill: undefined }, escapeXml('a & b')); // '<text x="1.25">a &amp; b</text>'
 */
export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) => ` ${key}="${escapeXml(typeof value === 'number' ? round(value) : String(value))}"`,
    );
  const open = `<${name}${written.join('')}`;
  return content === '' ? `${open}/>` : `${open}>${content}</${name}>`;
}

/** A number with at most two decimals, which is precise enough for pixels. */
export function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** The class of a drawing's outermost element, for {@link DARK_STYLE}. */
export const DRAWING_CLASS = 'millrace-drawing';

/** In dark surroundings a drawing turns dark: lightness is inverted, and colours keep their hue. */
export const DARK_STYLE = `@media (prefers-color-scheme: dark) { .${DRAWING_CLASS} { filter: invert(0.93) hue-rotate(180deg); } }`;
