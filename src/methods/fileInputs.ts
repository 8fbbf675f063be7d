import type { Deadline } from '../backends/deadline.ts';
import type { DeclaredInputs } from '../backends/typeRegistry.ts';
import { atMost } from '../concurrency/waiting.ts';
import type { StoreRecords } from '../observing/callRecords.ts';
import type { Span } from '../observing/observation.ts';
import { type StoreLocation, storeFailureOf } from '../observing/storeFailure.ts';
import { quoted } from '../protocol/rejection.ts';
import type { StorageError } from '../stores/account.ts';
import type { FileStorage, SignedFile, SignResult } from '../stores/methodFiles.ts';
import { Failure } from './failure.ts';

/** `claims` are those of the caller's token; `timeout` is in seconds. */
interface FileInputsRequest {
  readonly input: Readonly<Record<string, unknown>>;
  readonly inputs: DeclaredInputs;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly timeout: number;
  readonly deadline: Deadline;
  readonly span: Span | undefined;
}

export type FileInputs = ReturnType<typeof createFileInputs>;

interface FileInputsOptions {
  readonly storage: FileStorage | undefined;
  /** Claim with the folder of the caller's files; empty: all callers share the container. */
  readonly tenantClaim: string;
  readonly onOutage: (error: StorageError) => void;
}

/** Added to the time-out of the invocation, for clocks that differ. */
const marginSeconds = 60;
const concurrentSignatures = 8;

export function createFileInputs({ storage, tenantClaim, onOutage }: FileInputsOptions) {
  function blobName(name: string, claims: FileInputsRequest['claims']): string {
    const folder = tenantClaim === '' ? '' : tenantFolder(claims, tenantClaim);
    if (folder === undefined)
      throw new Failure('forbidden', 'the token has no valid claim for the folder of the caller’s files');
    const blob = folder === '' ? name : `${folder}/${name}`;
    if (blob.length <= 1_024 && blob.split('/').length <= 254) return blob;
    const most = 'at most 1,024 characters and 254 segments';
    throw new Failure('invalid_request', `a file name has, with the folder of the caller’s files, ${most}`);
  }

  function fileFrom(input: string, result: SignResult): SignedFile {
    if (result.kind === 'file') return result.file;
    const named = `input ${quoted(input)}`;
    if (result.kind === 'missing')
      throw new Failure('file_not_found', `the file of ${named} does not exist; upload it first`);
    if (result.kind === 'changed_name')
      throw new Failure('invalid_request', `${named} must be a file name without . or .. segments`);
    if (result.kind === 'too_large') {
      const excess = `has ${result.bytes} bytes, at most ${storage?.maxBytes} are allowed`;
      throw new Failure('file_too_large', `the file of ${named} ${excess}`);
    }
    onOutage(result.error);
    const detail = 'the file storage is unavailable; nothing was invoked, repeat it later';
    throw new Failure('storage_unavailable', detail, { fields: { cause: result.error.said } });
  }

  /** The signed files of an invocation, by input; undefined when it has none (M9). @throws Failure */
  return async ({ input, inputs, claims, timeout, deadline, span: parent }: FileInputsRequest) => {
    const names = Object.entries(input).filter(
      (named): named is [string, string] => inputs.get(named[0]) === 'file' && typeof named[1] === 'string',
    );
    if (names.length === 0) return undefined;
    if (storage === undefined) {
      const detail = 'no file storage is configured: tell the operator of the front door';
      throw new Failure('storage_unavailable', detail, { retryAfter: null });
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

/** 1 to 1,024 characters; segments joined by `/`, none of them empty, `.` or `..`; no control characters, no `\` (M9). */
const fileName =
  /^(?=.{1,1024}$)(?!\.{1,2}(?:\/|$))[^\p{Cc}\p{Cs}\\/]+(?:\/(?!\.{1,2}(?:\/|$))[^\p{Cc}\p{Cs}\\/]+)*$/su;

/** Why a value is not a file name, as the end of a sentence; undefined when it is one (M9). */
export const fileNameProblem = (value: unknown): string | undefined =>
  typeof value === 'string' && fileName.test(value)
    ? undefined
    : 'must be a file name: 1 to 1,024 characters, no control characters, no \\, no leading /, no empty, . or .. segment';

/** The folder of the caller's tenant (M9); undefined when the claim is not a valid folder name. */
export function tenantFolder(claims: Readonly<Record<string, unknown>>, claim: string): string | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  const isSegment = typeof value === 'string' && !value.includes('/') && fileNameProblem(value) === undefined;
  return isSegment && value.length <= 128 ? value : undefined;
}

export const recordedFiles = (files: FileStorage, place: StoreLocation, records: StoreRecords): FileStorage => ({
  maxBytes: files.maxBytes,
  async sign(name, seconds, signal) {
    const ended = records.begin('files', 'read');
    const result = await files.sign(name, seconds, signal);
    ended(result.kind === 'unavailable' ? storeFailureOf(result.error, place)?.fault : undefined);
    return result;
  },
});
