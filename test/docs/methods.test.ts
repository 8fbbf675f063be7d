import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failures } from '../../src/protocol/vocabulary.ts';
import { settingDocs } from '../../src/settings/config.ts';
import { describedOperations } from '../support/contracts.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

const page = readPage('methods.md');

describe('docs/methods.md', () => {
  it('lists all failures with their statuses, whether the method has run, and when to repeat {S23.9}', () => {
    const listed = tableOf(page, 'reason').map((row) => [
      ...[codesIn(row['reason'] ?? '')[0], Number(row['status'])],
      ...[codesIn(row['`invoked`'] ?? '')[0], Number(row['`Retry-After`']) || undefined],
    ]);
    const all = Object.entries<{ status: number; invoked: string; retryAfter?: number }>(failures);
    expect(listed).toEqual(
      all.map(([reason, { status, invoked, retryAfter }]) => [reason, status, invoked, retryAfter]),
    );
  });

  it('names existing settings only', () => {
    const known = settingDocs().map(({ env }) => env);
    const named = codesIn(page).filter((code) => /^(METHODS|HUB|STORE|CHECKPOINTS|DEAD_LETTERS)_[A-Z_]+$/.test(code));
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((code) => !known.includes(code))).toEqual([]);
  });

  it('names every field of the line of an invocation at the edge', () => {
    const log = readFileSync('edge/src/invocations/proxy.ts', 'utf8');
    const fields = [...log.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
    expect(fields.length).toBeGreaterThan(9);
    const named = codesIn(page);
    const wanted = [...fields, 'methodStatus', 'status', 'reason', 'details'];
    expect(wanted.filter((field = '') => !named.includes(field))).toEqual([]);
  });
});

it('docs/contracts/methods.openapi.yaml has every status of a failure, under both paths {S23.3}', () => {
  const path = 'objects/{objectId}/models/{model}/methods/{method}';
  const statuses = [...new Set([200, ...Object.values(failures).map(({ status }) => status)])].map(String).sort();
  const operations = describedOperations('methods');
  expect(operations.get(`POST /${path}`)?.sort()).toEqual(statuses);
  expect(operations.get(`POST /v1/${path}`)?.sort()).toEqual(statuses);
});
