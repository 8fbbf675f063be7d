import type { Deadline } from '../backends/deadline.ts';
import type { DeclaredInputs } from '../backends/methodDeclarations.ts';
import { atMost } from '../concurrency/waiting.ts';
import type { FileStorage, SignedFile, SignResult } from '../hub/methods/fileStorage.ts';
import { quoted } from '../protocol/rejection.ts';
import type { StorageError } from '../storage/storageCalls.ts';
import type { Span } from '../tracing/span.ts';
import { Failure } from './failure.ts';
import { tenantFolder } from './fileName.ts';
import { filesIn } from './inputs.ts';

interface FileInputsRequest {
  readonly input: Readonly<Record<string, unknown>>;
  readonly inputs: DeclaredInputs | undefined;
  /** Of the caller's token. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Of the invocation, in seconds. */
  readonly timeout: number;
  readonly deadline: Deadline;
  /** The look-up of the files gets a child of it. */
  readonly span: Span | undefined;
}

/**
 * The signed files of an invocation, by input; undefined when it has none (M9).
 * @throws Failure
 */
export type FileInputs = (request: FileInputsRequest) => Promise<Readonly<Record<string, SignedFile>> | undefined>;

interface FileInputsOptions {
  /** Undefined when no storage is configured. */
  readonly storage: FileStorage | undefined;
  /** Claim with the folder of the caller's files; empty: all callers share the container. */
  readonly tenantClaim: string;
  readonly onOutage: (error: StorageError) => void;
}

/** Added to the time-out of the invocation, for clocks that differ. */
const marginSeconds = 60;
const concurrentSignatures = 8;

export function createFileInputs({ storage, tenantClaim, onOutage }: FileInputsOptions): FileInputs {
  function blobName(name: string, claims: FileInputsRequest['claims']): string {
    if (tenantClaim === '') return name;
    const folder = tenantFolder(claims, tenantClaim);
    if (folder === undefined) {
      throw new Failure('forbidden', 'the token has no valid claim for the folder of the caller’s files');
    }
    return `${folder}/${name}`;
  }

  function fileFrom(input: string, result: SignResult): SignedFile {
    switch (result.kind) {
      case 'file':
        return result.file;
      case 'missing':
        throw new Failure('file_not_found', `the file of input ${quoted(input)} does not exist; upload it first`);
      case 'too_large': {
        const detail = `the file of input ${quoted(input)} has ${result.bytes} bytes, at most ${storage?.maxBytes} are allowed`;
        throw new Failure('file_too_large', detail);
      }
      case 'changed_name':
        throw new Failure('invalid_request', `input ${quoted(input)} must be a file name without . or .. segments`);
      case 'unavailable': {
        onOutage(result.error);
        const detail = 'the file storage is unavailable; nothing was invoked, repeat it later';
        throw new Failure('storage_unavailable', detail, { fields: { cause: result.error.said } });
      }
    }
  }

  return async ({ input, inputs, claims, timeout, deadline, span: parent }) => {
    const names = filesIn(input, inputs);
    if (names.length === 0) return undefined;
    if (storage === undefined) {
      throw new Failure('storage_unavailable', 'no file storage is configured: tell the operator of the front door', {
        retryAfter: null,
      });
    }
    const limited = atMost(concurrentSignatures);
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(deadline.remaining())));
    const span = parent?.child('look up files', 'client', { 'svc.files': names.length });
    const signed = names.map(([name, value]) =>
      limited(async () => {
        const result = await storage.sign(blobName(value, claims), timeout + marginSeconds, signal);
        return [name, fileFrom(name, result)] as const;
      }),
    );
    try {
      return Object.fromEntries(await deadline.race(Promise.all(signed), 'the file storage'));
    } catch (error) {
      span?.end({}, { type: error instanceof Failure ? error.reason : 'timeout' });
      throw error;
    } finally {
      span?.end();
    }
  };
}
