import { expect, it } from 'vitest';
import { Rejection } from '../../src/protocol/rejection.ts';

const cause = new Error('of the backend');

it('a rejection has its code, its details, further members of the acknowledgement, and its cause', () => {
  const rejection = new Rejection('not_authorized', 'another owns it', { version: 3 }, cause);
  expect(rejection).toMatchObject({
    code: 'not_authorized',
    details: 'another owns it',
    fields: { version: 3 },
    cause,
  });
  expect(rejection).toMatchObject({ name: 'Rejection', message: 'not_authorized: another owns it' });
  expect(new Rejection('not_authorized', '')).not.toHaveProperty('cause');
  expect(new Rejection('not_authorized', '').fields).toEqual({});
});

it('the details of a rejection are truncated, in the message as well', () => {
  const rejection = new Rejection('validation_error', 'x'.repeat(2_000));
  expect(rejection.details).toBe(`${'x'.repeat(999)}…`);
  expect(rejection.message).toBe(`validation_error: ${'x'.repeat(999)}…`);
});

it('a rejection with more fields stays the same, and its own fields take precedence', () => {
  const rejection = new Rejection('not_authorized', 'another owns it', { version: 3 }, cause);
  const more = rejection.with({ version: 1, relatedModels: [] });
  expect(more).toMatchObject({ code: 'not_authorized', details: 'another owns it', cause });
  expect(more.fields).toEqual({ version: 3, relatedModels: [] });
});
