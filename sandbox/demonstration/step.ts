import type { Exchange } from './demonstrate.ts';
import type { Pattern } from './pattern.ts';

/** One message of a device and everything it has to get back. */
export interface Step {
  /** A sentence about what happens. */
  title: string;
  device: string;
  /** Says the same as the step before, which was shown in full: this one is shown in few lines. */
  isRepeat?: boolean;
  /** May refer to what earlier steps brought, an object id for example. */
  exchange(earlier: readonly Exchange[]): { request: Request; replies: readonly ExpectedReply[] };
}

/** What a device sends. */
export interface Request {
  properties: Readonly<Record<string, string>>;
  body: unknown;
}

/** Compared exactly, but for the patterns in it. Replies are expected in this order. */
export interface ExpectedReply {
  properties: Readonly<Record<string, Pattern>>;
  body: Pattern;
}
