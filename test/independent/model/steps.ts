/** What a device sends: AMQP devices write numbers and booleans, too. */
export interface Sent {
  readonly properties: Readonly<Record<string, string | number | boolean>>;
  readonly body: Buffer;
}

/** A text itself, a form that it must have, or `{ either }`: that text or nothing. */
export type Expected = string | RegExp | { readonly either: string };

/** One call of a backend that the service must make. The path is decoded: segments, then the query. */
export interface Call {
  readonly method: string;
  readonly path: readonly (string | RegExp)[];
  readonly query?: Readonly<Record<string, string>>;
  /** The text that must be sent, or whether a text is right. */
  readonly body?: string | ((text: string) => boolean);
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One message to a device. */
export interface Reply {
  readonly deviceId: string;
  readonly properties: Readonly<Record<string, Expected>>;
  readonly correlationId: Expected | undefined;
  readonly isCompressed: boolean;
  /** Exactly this text, or a value that is like this in every member. */
  readonly body:
    | { readonly text: string }
    | { readonly value: Readonly<Record<string, unknown>>; readonly mentions: readonly string[] };
}

/** What comes next. `isKnown`: the answer may be remembered from before. `isUnordered`: others of its kind may come first. */
export type Step =
  | { readonly call: Call; readonly isKnown?: boolean; readonly isUnordered?: boolean }
  | { readonly reply: Reply; readonly isUnordered?: boolean };

/** What the service does with one message: each step is answered, a reply with anything. */
export type Handling<T = void> = Generator<Step, T, Answer>;

export function* ask(call: Call, how: { isKnown?: boolean; isUnordered?: boolean } = {}): Handling<Answer> {
  return yield { call, ...how };
}

/** What a message fails with: a code, the words that `details` must have, and further members of the acknowledgement. */
export class Failure extends Error {
  readonly code: string;
  readonly mentions: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
  constructor(code: string, mentions: readonly string[] = [], fields: Readonly<Record<string, unknown>> = {}) {
    super(code);
    this.code = code;
    this.mentions = mentions;
    this.fields = fields;
  }
}

/** §3: what a backend's refusal is for the device. */
export function orFail(answer: Answer, fields: Readonly<Record<string, unknown>> = {}): Answer {
  if (answer.status < 300) return answer;
  throw new Failure(answer.status === 403 ? 'not_authorized' : 'http_response_error', [String(answer.status)], fields);
}
