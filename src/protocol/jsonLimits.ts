/** Bounds on a JSON text. */
export interface JsonLimits {
  /** Deepest nesting of arrays and objects, at most `deepest`. */
  readonly depth: number;
  /** Most values, where a few bytes may have become many (R6); any number when omitted. */
  readonly values?: number;
  /** Read no further than to a wanted key that occurs for the second time: for those who then refuse the text. */
  readonly untilRepeated?: boolean;
}

/** Two more than a body may have (R5): the answer of a backend holds its models in a list. */
export const deepest = 130;

/** The bytes are not a JSON text within the limits; the message is for developers of devices. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}
