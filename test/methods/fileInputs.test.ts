import { describe, expect, it, vi } from 'vitest';
import { createDeadline } from '../../src/backends/deadline.ts';
import type { DeclaredInputs } from '../../src/backends/typeRegistry.ts';
import { createFileInputs, fileNameProblem, recordedFiles, tenantFolder } from '../../src/methods/fileInputs.ts';
import { createStoreRecords } from '../../src/observing/callRecords.ts';
import { createMeter, namesIn } from '../../src/observing/metrics.ts';
import { StorageError } from '../../src/stores/account.ts';
import type { FileStorage, SignResult } from '../../src/stores/methodFiles.ts';
import { recordedSpans } from '../observing/support/recordedSpans.ts';
import { readingOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';

// Inputs that are files, with a storage that does what the test says (M9).

withFakeTimers();

describe('a file name', () => {
  it.each(['a', '.a', 'a.', 'a..b', '...', 'a/b', 'ü ?#%/.x', '😀', 'x'.repeat(1_024)])('may be %j', (name) =>
    expect(fileNameProblem(name)).toBeUndefined(),
  );
  it.each([
    ...['', '/', '/a', 'a/', 'a//b', '.', '..', './a', '../a', 'a/.', 'a/..', 'a/./b', 'a/../b', 'a\\b'],
    ...['a\u0000', 'a\nb', 'a/\u0085', '\ud800', 'x'.repeat(1_025), undefined, 7],
  ])('may not be %j {S23.5}', (name) => expect(fileNameProblem(name)).toMatch(/^must be a file name/));
});

it.each<[folder: string | undefined, claims: object]>([
  ['acme', { tid: 'acme' }],
  ['x'.repeat(128), { tid: 'x'.repeat(128) }],
  [undefined, { tid: 'x'.repeat(129) }],
  [undefined, { tid: 'a/b' }],
  [undefined, { tid: '..' }],
  [undefined, { tid: '' }],
  [undefined, { tid: 7 }],
  [undefined, {}],
  [undefined, Object.create({ tid: 'inherited' })],
])('the folder of a tenant is %s with the claims %j', (folder, claims) =>
  expect(tenantFolder(claims as Record<string, unknown>, 'tid')).toBe(folder),
);

const inputs: DeclaredInputs = new Map([
  ['image', 'file'],
  ['text', 'file'],
  ['label', 'string'],
]);

const fileOf = (name: string): SignResult => ({ kind: 'file', file: { url: `signed ${name}`, bytes: 5, etag: 'e' } });

interface Given {
  readonly answer?: (name: string) => SignResult | Promise<SignResult>;
  readonly tenantClaim?: string;
  readonly isConfigured?: boolean;
  readonly hasSpan?: boolean;
}

function setUp({ answer = fileOf, tenantClaim = '', isConfigured = true, hasSpan = true }: Given = {}) {
  const asked: [name: string, seconds: number][] = [];
  const signals: AbortSignal[] = [];
  const outages: unknown[] = [];
  const storage: FileStorage = {
    maxBytes: 1_000,
    async sign(name, seconds, signal) {
      asked.push([name, seconds]);
      signals.push(signal);
      return answer(name);
    },
  };
  const sign = createFileInputs({
    storage: isConfigured ? storage : undefined,
    tenantClaim,
    onOutage: (error) => outages.push(error),
  });
  const { traces, spans } = recordedSpans();
  const root = { kind: 'server', traceId: '', samplingKey: '', link: undefined, attributes: {} } as const;
  const request = {
    ...{ claims: { tid: 'acme' }, timeout: 30, deadline: createDeadline(8) },
    span: hasSpan ? traces.begin({ name: 'root', ...root }) : undefined,
  };
  const read = (input: Readonly<Record<string, unknown>>, declared = inputs) =>
    sign({ ...request, input, inputs: declared });
  return { read, asked, signals, outages, endOfSpan: () => spans.slice(1).map(({ ends }) => ends[0]), spans };
}

describe('inputs that are files', () => {
  it('are signed by their names, for the time-out and a minute, and told as a span', async () => {
    const { read, asked, spans, endOfSpan } = setUp();
    expect(await read({ image: 'a.bin', label: 'x', text: 'b/c' })).toEqual({
      image: { url: 'signed a.bin', bytes: 5, etag: 'e' },
      text: { url: 'signed b/c', bytes: 5, etag: 'e' },
    });
    expect(asked).toEqual([
      ['a.bin', 90],
      ['b/c', 90],
    ]);
    expect(spans[1]).toMatchObject({ name: 'look up files', kind: 'client', attributes: { 'svc.files': 2 } });
    expect(endOfSpan()).toEqual([[undefined, undefined]]);
  });

  it('are none without a name of one: then the storage is not needed', async () => {
    for (const isConfigured of [true, false]) {
      const { read, asked, spans } = setUp({ isConfigured });
      expect([await read({ label: 'x', image: 7 }), asked, spans.length]).toEqual([undefined, [], 1]);
    }
  });

  it('fail without a storage', async () => {
    const { read } = setUp({ isConfigured: false });
    await expect(read({ image: 'a' })).rejects.toMatchObject({ reason: 'storage_unavailable', retryAfter: undefined });
  });

  it('are in the folder of the caller’s tenant, when there are such folders', async () => {
    const { read, asked } = setUp({ tenantClaim: 'tid' });
    await read({ image: 'a' });
    expect(asked).toEqual([['acme/a', 90]]);
    await expect(setUp({ tenantClaim: 'other' }).read({ image: 'a' })).rejects.toMatchObject({ reason: 'forbidden' });
  });

  it.each([
    ['tid', 'x'.repeat(1_019), 'x'.repeat(1_020)],
    ['tid', `${'a/'.repeat(252)}a`, `${'a/'.repeat(253)}a`],
    ['', `${'a/'.repeat(253)}a`, `${'a/'.repeat(254)}a`],
  ])('have no longer names than a storage has, with the folder of %j', async (tenantClaim, longest, longer) => {
    const { read, asked } = setUp({ tenantClaim });
    await read({ image: longest });
    expect(asked).toHaveLength(1);
    await expect(read({ image: longer })).rejects.toMatchObject({ reason: 'invalid_request' });
    expect(asked).toHaveLength(1);
  });

  const down = new StorageError('looking up a file', 503, 'ServerBusy');
  it.each<[result: SignResult, failure: object]>([
    [{ kind: 'missing' }, { reason: 'file_not_found', detail: expect.stringContaining('"image"') }],
    [
      { kind: 'too_large', bytes: 1_001 },
      { reason: 'file_too_large', detail: expect.stringMatching(/"image" has 1001 bytes, at most 1000/) },
    ],
    [{ kind: 'changed_name' }, { reason: 'invalid_request', detail: expect.stringContaining('"image"') }],
    [
      { kind: 'unavailable', error: down },
      { reason: 'storage_unavailable', retryAfter: 5, fields: { cause: '503 ServerBusy' } },
    ],
  ])('fail as the storage says: %j {S23.5}', async (result, failure) => {
    const { read, outages, endOfSpan } = setUp({ answer: () => result });
    await expect(read({ image: 'a' })).rejects.toMatchObject(failure);
    expect(outages).toEqual(result.kind === 'unavailable' ? [down] : []);
    const { reason } = failure as { readonly reason: string };
    expect(endOfSpan()).toEqual([[{}, { type: reason }]]);
    await expect(setUp({ answer: () => result, hasSpan: false }).read({ image: 'a' })).rejects.toMatchObject(failure);
  });

  it('have what is left of the time for look-ups', async () => {
    const { read, signals, endOfSpan } = setUp({ answer: () => new Promise(() => {}) });
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    vi.advanceTimersByTime(500);
    const reading = expect(read({ image: 'a' })).rejects.toMatchObject({ code: 'timeout_exceeded' });
    expect(timeout.mock.calls).toEqual([[7_500]]);
    expect(signals).toEqual(timeout.mock.results.map(({ value }) => value));
    await vi.advanceTimersByTimeAsync(7_500);
    await reading;
    expect(endOfSpan()).toEqual([[{}, { type: 'timeout' }]]);
    const late = expect(read({ image: 'a' })).rejects.toMatchObject({ code: 'timeout_exceeded' });
    expect(timeout.mock.calls.at(-1)).toEqual([1]);
    await vi.advanceTimersByTimeAsync(0);
    await late;
  });

  it('are eight at a time', async () => {
    const waiting: (() => void)[] = [];
    const names = Array.from({ length: 9 }, (_, index) => `file ${index}`);
    const answer = (name: string) => new Promise<SignResult>((resolve) => waiting.push(() => resolve(fileOf(name))));
    const { read, asked } = setUp({ answer });
    const input = Object.fromEntries(names.map((name) => [name, name]));
    const signed = read(input, new Map(names.map((name) => [name, 'file'])));
    expect(asked.length).toBe(8);
    for (const answered of waiting) answered();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.length).toBe(9);
    for (const answered of waiting) answered();
    expect(Object.keys((await signed) ?? {}).length).toBe(9);
  });
});

it('calls to the storage are recorded with their fault', async () => {
  const meter = createMeter(namesIn.methods);
  const results: SignResult[] = [
    { kind: 'missing' },
    { kind: 'unavailable', error: new StorageError('looking up a file', 403, 'AuthorizationFailure') },
  ];
  const sign = vi.fn(async () => results.shift() ?? fileOf('x'));
  const files = recordedFiles({ maxBytes: 7, sign }, { setting: 'METHODS_FILES' }, createStoreRecords(meter));
  const { signal } = new AbortController();
  expect([files.maxBytes, await files.sign('a', 90, signal)]).toEqual([7, { kind: 'missing' }]);
  expect(sign.mock.calls).toEqual([['a', 90, signal]]);
  await files.sign('a', 90, signal);
  expect(readingOf(meter, 'device_messaging.store.duration')).toEqual({ 'files read': 1, 'files read refused': 1 });
});
