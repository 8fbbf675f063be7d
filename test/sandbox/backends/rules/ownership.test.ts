import { describe, expect, it } from 'vitest';
import { isNewOwner, ownIdentity, readable, writable } from '../../../../sandbox/backends/rules/ownership.ts';
import { outcome } from './outcome.ts';

const device = { deviceId: 'gateway-1', tenant: 'acme' };
const ownedBy = (path: string) => ({ owner: { id: path, path } });

describe('a device', () => {
  const foreign = '403 the object model belongs to another device';
  it.each([
    ['what it owns', ownedBy('gateway-1'), 'ok', 'ok'],
    ['what an identity behind it owns', ownedBy('gateway-1/edge/sensor-1'), 'ok', 'ok'],
    ['what nobody owns', {}, 'ok', '403 the object model has no owner; claim it before changing it'],
    ['what another device owns', ownedBy('pump-1'), foreign, foreign],
    ['what a device owns whose id begins with its own', ownedBy('gateway-12/edge'), foreign, foreign],
    ['what is not there', undefined, '404 the object model does not exist', '404 the object model does not exist'],
  ])('reads and changes %s', (_, object, read, write) => {
    expect(outcome(() => readable(object, device) === object && 'ok')).toBe(read);
    expect(outcome(() => writable(object, device) === object && 'ok')).toBe(write);
  });
  it.each([
    ['itself', { tenant: 'acme', device: 'gateway-1' }, 'ok'],
    [
      'one of another device',
      { tenant: 'acme', device: 'pump-1' },
      '403 the owner is connected through another device',
    ],
    ['an identity of another tenant', { tenant: 'globex', device: 'gateway-1' }, '404 the owner does not exist'],
    ['an identity that is not there', undefined, '404 the owner does not exist'],
  ])('speaks for %s', (_, identity, expected) =>
    expect(outcome(() => ownIdentity(identity, device, 'the owner') === identity && 'ok')).toBe(expected),
  );
});

describe('a claim for gateway-1/edge', () => {
  const taken = '409 the object model is owned by another identity';
  it.each([
    ['of what nobody owns', undefined, true],
    ['of what it owns already', 'gateway-1/edge', false],
    ['of what another identity of the device owns', 'gateway-1', taken],
    ['of what a deleted identity of the device owned', 'gateway-1/gone', true],
    ['of what another device owns', 'pump-1', taken],
    ['of what a deleted identity of another device owned', 'pump-1/gone', taken],
  ])('%s', (_, path, expected) => {
    const exists = (id: string) => !id.endsWith('gone');
    const owner = path === undefined ? undefined : { id: path, path };
    expect(outcome(() => isNewOwner(owner, 'gateway-1/edge', device, exists))).toBe(expected);
  });
});
