/**
 * Escapes control characters, line separators and characters that set the direction of writing, as in `\u001b`: texts of
 * devices and backends must not control a terminal or appear as other text.
 */
export const printable = (text: string): string =>
  steering.test(text) ? text.replaceAll(everySteering, escaped) : text;

/** The same for JSON text: its strings have the lower control characters escaped already, and line feeds separate its lines. */
export const printableJson = (json: string): string =>
  steeringInJson.test(json) ? json.replaceAll(everySteeringInJson, escaped) : json;

const steeringInJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const everySteeringInJson = new RegExp(steeringInJson, 'g');
const steering = new RegExp(`\\p{Cc}|${steeringInJson.source}`, 'u');
const everySteering = new RegExp(steering, 'gu');

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
