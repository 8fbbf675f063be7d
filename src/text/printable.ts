/**
 * What devices and backends have written must not steer a terminal, nor make a text read other than it is: control
 * characters, those that end lines for some readers, and those that set the direction of writing become `\u001b`.
 */
export const printable = (text: string): string =>
  steering.test(text) ? text.replaceAll(everySteering, escaped) : text;

/** The same for JSON text, in which the lower control characters are escaped already, but for line feeds between lines. */
export const printableJson = (json: string): string =>
  steeringInJson.test(json) ? json.replaceAll(everySteeringInJson, escaped) : json;

const steeringInJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const everySteeringInJson = new RegExp(steeringInJson, 'g');
const steering = new RegExp(`\\p{Cc}|${steeringInJson.source}`, 'u');
const everySteering = new RegExp(steering, 'gu');

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
