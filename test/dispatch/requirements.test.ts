import { describe, expect, it } from 'vitest';
import type { BackendName } from '../../src/backends/backends.ts';
import { bytesToReserveFor, createRequirements } from '../../src/dispatch/requirements.ts';
import { catalogue } from '../../src/messages/index.ts';
import { bytesToReserve } from '../../src/protocol/body.ts';
import type { Generation } from '../../src/protocol/event.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import { hubEvent, requestProperties } from '../support/events.ts';

/** Backends of which the test takes some away. */
function setUp() {
  const out = new Set<BackendName>();
  const ready = (needs: readonly BackendName[]) =>
    needs.some((name) => out.has(name)) ? Promise.resolve(false) : undefined;
  const requirementOf = createRequirements({ ready, isUp: (name) => !out.has(name) }, messageLimits);
  const of = (properties: Readonly<Record<string, unknown>>, generation: Generation = 'V2') =>
    requirementOf({
      event: hubEvent({ properties }),
      generation,
      deviceId: 'd1',
      origin: { hub: 'hub', partition: '0' },
      redelivered: false,
    });
  return { out, of };
}

const action = (name: unknown) => ({ msgType: 'action', action: name, version: '2', correlationId: 'c' });
const never = new AbortController().signal;

describe('the required backends of a message', () => {
  it.each(catalogue)('are those of its card: $name', ({ name, generation, needs }) => {
    const { out, of } = setUp();
    const requirement = of(generation === 'V2' ? action(name) : { eventType: name }, generation);
    for (const backend of ['informationModel', 'typeRegistry', 'principalManager'] as const) {
      out.clear();
      expect(requirement?.isMet()).toBe(true);
      out.add(backend);
      expect(requirement?.isMet()).toBe(!needs.includes(backend));
    }
  });

  it('can be awaited, with either result', async () => {
    const { out, of } = setUp();
    const requirement = of(action('model.update'));
    expect(await requirement?.met(never)).toBe(true);
    out.add('informationModel');
    expect(await requirement?.met(never)).toBe(false);
  });

  it('are one shared object for equal requirements, so that messages begin in order', () => {
    const { of } = setUp();
    expect(of(action('model.update'))).toBe(of(action('reference.create')));
    expect(of(action('model.update'))).not.toBe(of(action('identity.update')));
  });

  it.each([
    ['an unknown one', action('model.invent')],
    ['one without a name', { msgType: 'action' }],
    ['one whose name is no text', action(7)],
    ['one that is named like what every object has', action('constructor')],
    ['one that is refused without any backend', { ...action('model.update'), version: '3' }],
  ])('are none for %s, which is answered even if all backends are out', (_, properties) => {
    const { out, of } = setUp();
    for (const name of ['informationModel', 'typeRegistry', 'principalManager'] as const) out.add(name);
    expect(of(properties)?.isMet() ?? true).toBe(true);
  });
});

it.each(catalogue)('what a message may keep of answers is reserved before it starts: $name', (card) => {
  const { name, generation, keeps } = card;
  const event = hubEvent({ properties: requestProperties[generation](name) });
  expect(bytesToReserveFor(event, messageLimits.maxInflatedBytes)).toBe(
    bytesToReserve(event, messageLimits.maxInflatedBytes) + keeps,
  );
});

it('nothing is reserved for answers to what is no message of the catalogue', () => {
  const event = hubEvent({ properties: requestProperties.V2('model.invent') });
  expect(bytesToReserveFor(event, messageLimits.maxInflatedBytes)).toBe(
    bytesToReserve(event, messageLimits.maxInflatedBytes),
  );
});
