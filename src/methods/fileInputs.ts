import type { Deadline } from '../backends/deadline.ts';
import type { Inputs } from '../backends/methodsOfType.ts';
import { atMost } from '../hub/atMost.ts';
import type { FileAnswer, Files, SignedFile } from '../hub/methods/files.ts';
import { Failure } from './failure.ts';
import { folderOf } from './fileName.ts';
import { filesIn } from './inputs.ts';

interface Given {
  readonly input: Readonly<Record<string, unknown>>;
  readonly inputs: Inputs | undefined;
  /** Of the caller's token. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The call's time-out, in seconds. */
  readonly timeout: number;
  readonly deadline: Deadline;
}

/**
 * The files of an invocation, by the names of their inputs; undefined when it has none (M9).
 * @throws Failure
 */
export type FileInputs = (given: Given) => Promise<Readonly<Record<string, SignedFile>> | undefined>;

interface FileInputsOptions {
  /** Undefined: there is no storage. */
  readonly files: Files | undefined;
  /** Claim that names the folder of the caller's files; empty: there is one for all. */
  readonly tenantClaim: string;
  /** The storage has refused us, or does not answer. */
  readonly onOutage: (cause: string) => void;
}

/** A signature is good for so many seconds more than the call takes: clocks differ, and a download has begun by then. */
const marginSeconds = 60;
/** Look-ups of one invocation at once. */
const width = 8;

export function createFileInputs({ files, tenantClaim, onOutage }: FileInputsOptions): FileInputs {
  function placeOf(name: string, claims: Given['claims']): string {
    if (tenantClaim === '') return name;
    const folder = folderOf(claims, tenantClaim);
    if (folder === undefined) {
      throw new Failure('forbidden', 'the token does not say in which folder the files of its caller are');
    }
    return `${folder}/${name}`;
  }

  function fileOf(input: string, answer: FileAnswer): SignedFile {
    switch (answer.kind) {
      case 'file':
        return answer.file;
      case 'missing':
        throw new Failure(
          'file_not_found',
          `there is no file of the name that input ${quoted(input)} gives; upload it first`,
        );
      case 'too_large': {
        const detail = `the file of input ${quoted(input)} has ${answer.bytes} bytes, at most ${files?.maxBytes} are allowed`;
        throw new Failure('file_too_large', detail);
      }
      case 'elsewhere':
        throw new Failure('invalid_request', `input ${quoted(input)} must be the name of a file, without detours`);
      case 'out': {
        onOutage(answer.cause);
        const detail = 'the storage of the files does not answer as it should; nothing was invoked, repeat it later';
        throw new Failure('storage_unavailable', detail, { retryAfter: 5, fields: { cause: answer.cause } });
      }
    }
  }

  return async ({ input, inputs, claims, timeout, deadline }) => {
    const names = filesIn(input, inputs);
    if (names.length === 0) return undefined;
    if (files === undefined) {
      throw new Failure('storage_unavailable', 'the front door has no storage for files: its operator must set one up');
    }
    const inTurn = atMost(width);
    const gone = AbortSignal.timeout(Math.max(1, Math.ceil(deadline.remaining())));
    const signed = names.map(([name, value]) =>
      inTurn(async () => {
        const answer = await files.sign(placeOf(value, claims), timeout + marginSeconds, gone);
        return [name, fileOf(name, answer)] as const;
      }),
    );
    return Object.fromEntries(await deadline.race(Promise.all(signed), 'the storage of the files'));
  };
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 64).toWellFormed());
