type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Text for an element or an attribute. What XML does not allow at all is no longer in the layout's text. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * An element with its attributes; the content is XML already.
 *
 * @example
 * element('circle', { r: 5, fill: undefined }); // '<circle r="5"/>'
 */
export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escaped(typeof value === 'number' ? number(value) : String(value))}"`);
  const open = `<${name}${written.join('')}`;
  return content === '' ? `${open}/>` : `${open}>${content}</${name}>`;
}

const number = (value: number) => String(Math.round(value * 100) / 100);

/** Words at a place. Spaces in a row are kept. */
export function text(x: number, y: number, words: string, attributes: Attributes = {}): string {
  return element('text', { x, y, 'xml:space': 'preserve', ...attributes }, escaped(words));
}

/** Moves what is drawn. */
export function moved(x: number, y: number, content: string): string {
  return content === '' || (x === 0 && y === 0)
    ? content
    : element('g', { transform: `translate(${number(x)} ${number(y)})` }, content);
}

/**
 * About how wide text is. Fonts differ between machines and the bytes of a picture must not, so it is reckoned
 * from the number of characters, rather too wide than too narrow.
 */
export function textWidth(words: string, size: number, isMono = false): number {
  let width = 0;
  for (const character of words) width += isMono ? 0.61 : /[\sil.,:;|'·…]/.test(character) ? 0.34 : 0.6;
  return width * size;
}
