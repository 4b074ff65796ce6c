export { type DrawSvgOptions, drawSvg } from './draw-svg.ts';
export { type DrawTextOptions, drawText } from './draw-text.ts';
