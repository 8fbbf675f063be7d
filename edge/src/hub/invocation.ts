import { z } from 'zod';
import { guid, isTopicText } from '../configuration/schema.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
// zod's records drop a member named __proto__
const object = z.custom<Record<string, unknown>>(isObject, 'must be an object');
const text = z.string('must be a string');

const signedFile = z.object(
  {
    url: text.max(8192, 'must have at most 8192 characters'),
    bytes: z.int('must be a whole number').min(0, 'must not be negative'),
    etag: text.min(1, 'must not be empty').max(256, 'must have at most 256 characters'),
  },
  'must be an object with url, bytes and etag',
);

/** A file with a URL that the front door has signed (M9). */
export type SignedFile = Readonly<z.output<typeof signedFile>>;

const invocation = z.object(
  {
    correlationId: text.max(128, 'must have at most 128 characters'),
    objectId: z.string('must be a GUID').pipe(guid),
    model: text,
    /** Connectivity path below the device; empty: the device itself. */
    target: text,
    method: text.min(1, 'must not be empty'),
    /** In seconds, from the front door's call to the hub. */
    timeout: z.int('must be whole seconds').min(5, 'must be at least 5').max(300, 'must be at most 300'),
    /** Absent when the method declares no inputs. */
    input: object.optional(),
    /** By input. */
    files: object.optional(),
  },
  'must be a JSON object',
);

/** Payload of the direct method `invokeMethod`, which the front door sends (M6). */
export interface Invocation extends Readonly<Omit<z.output<typeof invocation>, 'files'>> {
  readonly files?: ReadonlyMap<string, SignedFile>;
}

export function readInvocation(payload: unknown): Invocation | { readonly problem: string } {
  const invalid = (problem: string) => ({ problem: `the payload is not a valid invocation: ${problem}` });
  const { data, error } = invocation.safeParse(payload);
  if (!data) return invalid(describe(error));
  const { files: given, ...rest } = data;
  if (given === undefined) return rest;
  const files = new Map<string, SignedFile>();
  for (const [name, value] of Object.entries(given)) {
    if (typeof rest.input?.[name] !== 'string') return invalid('a file has no input of the same name');
    const { data: file, error } = signedFile.safeParse(value);
    if (!file) return invalid(`a file: ${describe(error)}`);
    files.set(name, file);
  }
  return { ...rest, files };
}

const describe = (error: z.ZodError): string =>
  error.issues.map(({ path, message }) => [...path.map(String), message].join(' ')).join('; ');

const maxMethodBytes = 1024;

/** Why a method name cannot be a segment of a topic (M11); undefined when it can. */
export function methodNameProblem(method: string): string | undefined {
  const isValid = !/^\$|[/+#]/.test(method) && isTopicText(method) && Buffer.byteLength(method) <= maxMethodBytes;
  return isValid
    ? undefined
    : `the method name cannot be part of a topic: it must have at most ${maxMethodBytes} bytes, must not begin with $, and must not contain /, +, # or control characters`;
}

/** Limit of the hub for the response to a direct method (M3). */
export const maxResponseBytes = 131_072;

/** Whether the method has run, so that no caller repeats it (M7). */
type Invoked = 'yes' | 'no' | 'unknown';

interface Failing {
  /** Of M8. 502: it failed and may have run, or a file could not be downloaded. 503: temporarily unavailable. */
  readonly status: 400 | 404 | 409 | 502 | 503 | 504;
  readonly invoked: Invoked;
}

/** Why an invocation fails, for operators, and what that tells the front door. */
export const failures = {
  invalid_invocation: { status: 400, invoked: 'no' },
  takes_no_files: { status: 400, invoked: 'no' },
  no_module: { status: 404, invoked: 'no' },
  other_object: { status: 409, invoked: 'no' },
  file_not_downloaded: { status: 502, invoked: 'no' },
  bad_reply: { status: 502, invoked: 'yes' },
  internal_error: { status: 502, invoked: 'unknown' },
  overloaded: { status: 503, invoked: 'no' },
  stopping: { status: 503, invoked: 'no' },
  broker_unavailable: { status: 503, invoked: 'no' },
  folder_unavailable: { status: 503, invoked: 'no' },
  too_late: { status: 503, invoked: 'no' },
  no_reply: { status: 504, invoked: 'unknown' },
  aborted: { status: 504, invoked: 'unknown' },
} as const satisfies Readonly<Record<string, Failing>>;

export type Reason = keyof typeof failures;

/** Response to the direct method: 200 with the reply of the module, or a status of M8 (M7). The hub does not get the reason. */
export type MethodResponse =
  | { readonly status: 200; readonly payload: { readonly status: number; readonly output?: object } }
  | {
      readonly status: Failing['status'];
      readonly reason: Reason;
      readonly payload: {
        /** A sentence of at most 300 characters. */
        readonly detail: string;
        readonly invoked: Invoked;
        /** Of a malformed reply, the status that the module gave. */
        readonly status?: number;
      };
    };

const maxDetailLength = 300;

/** @param methodStatus the module's, if its reply has one */
export function failure(reason: Reason, detail: string, methodStatus?: number): MethodResponse {
  const { status, invoked } = failures[reason];
  const shortened =
    detail.length <= maxDetailLength ? detail : `${detail.slice(0, maxDetailLength - 1).toWellFormed()}…`;
  return {
    ...{ status, reason },
    payload: { detail: shortened, invoked, ...(methodStatus !== undefined && { status: methodStatus }) },
  };
}
