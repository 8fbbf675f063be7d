/** Bounds on a JSON text (R5, D25). */
export interface JsonLimits {
  /** Deepest nesting of arrays and objects, at most 128. */
  readonly depth: number;
  /** Number of values: members, elements and the outermost value. */
  readonly values: number;
  /** Number of members of the outermost object. */
  readonly members: number;
  /** Characters of a key, including escapes. */
  readonly keyLength: number;
  /** Characters of a number. */
  readonly numberLength: number;
  /** Read no further than to a wanted key that occurs for the second time: for those who then refuse the text. */
  readonly untilRepeated?: boolean;
}

/** Limits only the nesting: for backend responses, whose size is limited elsewhere. */
export const trusted = (depth: number): JsonLimits => ({
  depth,
  values: Number.POSITIVE_INFINITY,
  members: Number.POSITIVE_INFINITY,
  keyLength: Number.POSITIVE_INFINITY,
  numberLength: Number.POSITIVE_INFINITY,
});

/** The bytes are not a JSON text within the limits; the message is for developers of devices. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}
