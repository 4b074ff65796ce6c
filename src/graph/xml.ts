const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Text for XML and SVG, between tags and in attributes.
 *
 * @example
 * escapeXml('a "<b>"'); // 'a &quot;&lt;b&gt;&quot;'
 */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] as string);
}

type Attributes = Readonly<Record<string, string | number>>;

/**
 * An element; `content` is XML already.
 *
 * @example
 * element('text', { x: 1.25 }, escapeXml('a & b')); // '<text x="1.3">a &amp; b</text>'
 */
export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? round(value) : escapeXml(value)}"`)
    .join('');
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** A tenth of a pixel is enough, and keeps the file short. */
export function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
