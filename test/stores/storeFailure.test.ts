import { expect, it } from 'vitest';
import { type StoreFailure, storeFailureOf } from '../../src/observing/storeFailure.ts';
import { StorageError } from '../../src/stores/account.ts';
import { recorded } from '../../src/stores/open.ts';

// What an operator learns of each failure of a store: the setting, what the store has said, and what to do.

const byKey = { setting: 'STORE_CONNECTION_STRING', containerSetting: 'CHECKPOINTS_CONTAINER' };
const byIdentity = { ...byKey, setting: 'STORE_ACCOUNT_URL' };
const inFolder = { setting: 'DATA_DIRECTORY' };

const told = (error: unknown, place: Parameters<typeof storeFailureOf>[1]) => {
  const failure = storeFailureOf(error, place);
  return failure && [failure.fault, failure.diagnosis.setting, failure.diagnosis.storeSaid, failure.diagnosis.todo];
};

type Told = readonly [fault: string, todo: RegExp, setting?: string];
const refused = (todo: RegExp, setting?: string): Told => (setting ? ['refused', todo, setting] : ['refused', todo]);
const unavailable = (todo: RegExp): Told => ['unavailable', todo];
const key = /^AccountKey must be that of AccountName/;
const right = /^the connection string must allow to list, read, write and delete/;
const role = /^give the identity the role/;
const container = 'CHECKPOINTS_CONTAINER';

it.each<[status: number | undefined, code: string, told: Told, asIdentity?: RegExp]>([
  [401, 'InvalidAuthenticationInfo', refused(key), role],
  [403, 'AuthenticationFailed', refused(key), role],
  [403, 'AuthorizationFailure', refused(right), role],
  [403, 'AuthorizationPermissionMismatch', refused(right), role],
  [404, 'ContainerNotFound', refused(/^create this container/, container)],
  [400, 'InvalidResourceName', refused(/^compare AccountName or BlobEndpoint/, container)],
  [400, 'InvalidHeaderValue', refused(/^compare AccountName or BlobEndpoint/)],
  [408, 'OperationTimedOut', refused(/^wait:/)],
  [429, 'TooManyRequests', refused(/^wait:/)],
  [500, 'InternalError', unavailable(/^wait:/)],
  [502, 'BadGateway', unavailable(/^wait:/)],
  [503, 'ServerBusy', unavailable(/^wait:/)],
  [504, 'GatewayTimeout', unavailable(/^wait:/)],
  [undefined, 'ENOTFOUND', unavailable(/^there is no such host: compare AccountName or BlobEndpoint/)],
  [undefined, 'ECONNREFUSED', unavailable(/^nobody answers there: compare .*, or wait until it is back$/)],
  [undefined, 'AbortError', unavailable(/^compare .*, or wait until it is back$/)],
  [undefined, 'NoToken', unavailable(/^look at the line identity.no_token/)],
])('an account that answers %s %s', (status, code, [fault, todo, setting], asIdentity = todo) => {
  const error = new StorageError('checkpoint storage: listing', status, code);
  const said = status === undefined ? code : `${status} ${code}`;
  for (const [place, what] of [
    [byKey, todo],
    [byIdentity, asIdentity],
  ] as const)
    expect(told(error, place)).toEqual([fault, setting ?? place.setting, said, expect.stringMatching(what)]);
});

it.each([
  ...['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR'].map((code) => [code, 'refused', /^must be a folder/] as const),
  ['ENOENT', 'refused', /^the folder has gone/] as const,
  ['ENOENT', 'refused', /^must be a folder/, 'mkdir' as string] as const,
  ...['ENOSPC', 'EDQUOT'].map((code) => [code, 'refused', /^the disk is full: make room$/] as const),
  ...['EIO', 'ESTALE'].map((code) => [code, 'unavailable', /^look at the disk/] as const),
])('a folder whose system answers %s is %s', (code, fault, todo, syscall = 'open') => {
  const error = Object.assign(new Error(`${code}: ${syscall} '/data/x'`), { code, syscall });
  expect(told(error, inFolder)).toEqual([fault, 'DATA_DIRECTORY', error.message, expect.stringMatching(todo)]);
});

it('what says nothing about a store stays as it is, and each call has one end', async () => {
  const ends: unknown[] = [];
  const defect = new TypeError('a defect');
  const busy = new StorageError('storage: writing', 503, 'ServerBusy');
  const plain = {
    read: () => Promise.reject(defect),
    write: () => Promise.reject(busy),
    list: async (one: number, other: number) => one + other,
  };
  const verbs = { read: 'read', write: 'write', list: 'list' } as const;
  const store = recorded(plain, verbs, 'checkpoints', byKey, {
    begin: (store, operation) => (fault) => void ends.push([store, operation, fault]),
  });
  await expect(store.read()).rejects.toBe(defect);
  await expect(store.write()).rejects.toMatchObject({
    ...({ name: 'StoreFailure', fault: 'unavailable', message: busy.message } satisfies Partial<StoreFailure>),
  });
  expect(await store.list(3, 4)).toBe(7);
  expect(ends).toEqual([
    ['checkpoints', 'read', undefined],
    ['checkpoints', 'write', 'unavailable'],
    ['checkpoints', 'list', undefined],
  ]);
});
