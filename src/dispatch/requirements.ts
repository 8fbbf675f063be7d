import type { BackendName, Backends } from '../backends/backends.ts';
import type { Card } from '../card/card.ts';
import type { Requirement } from '../engine/order/lanes.ts';
import { catalogue, findCard } from '../messages/index.ts';
import { bytesToReserve } from '../protocol/body.ts';
import { createEnvelopeReader, type EnvelopeLimits, messageNameOf } from '../protocol/envelope.ts';
import { type Arrival, classify, eventId, type Generation, type HubEvent } from '../protocol/event.ts';

/** The backends that must be available before a message starts; undefined when it needs none (B5). */
export type RequirementOf = (arrival: Arrival) => Requirement | undefined;

/** Cheap while all backends are available: it only looks up the card. */
export function createRequirements(backends: Pick<Backends, 'ready' | 'isUp'>, limits: EnvelopeLimits): RequirementOf {
  const readEnvelope = createEnvelopeReader(limits);
  const requirements = new Map<Card, Requirement>();
  /** Cards that need the same backends share one requirement, so that their messages start in order. */
  const shared = new Map<string, Requirement>();
  for (const card of catalogue) {
    const key = card.needs.toSorted().join();
    const requirement = shared.get(key) ?? requirementFor(card.needs);
    shared.set(key, requirement);
    requirements.set(card, requirement);
  }

  function requirementFor(needs: readonly BackendName[]): Requirement {
    return {
      needs,
      isMet: () => needs.every(backends.isUp),
      met: async (pointless) => (await backends.ready(needs, pointless)) ?? true,
    };
  }

  return ({ event, generation, deviceId, origin }) => {
    const { properties = {} } = event;
    const card = cardOf(generation, properties);
    const requirement = card && requirements.get(card);
    if (requirement === undefined || requirement.isMet()) return requirement;
    const id = eventId(event, origin, deviceId);
    const { refusal } = readEnvelope(generation, properties, deviceId, id);
    return refusal ? undefined : requirement;
  };
}

const cardOf = (generation: Generation, properties: HubEvent['properties'] = {}): Card | undefined =>
  findCard(generation, messageNameOf(generation, properties));

/** Bytes to reserve for a message before it starts: for its body, and for what it may keep of answers of backends (R6). */
export function bytesToReserveFor(event: HubEvent, maxInflatedBytes: number): number {
  const generation = classify(event);
  const card = generation && cardOf(generation, event.properties);
  return bytesToReserve(event, maxInflatedBytes) + (card?.keeps ?? 0);
}
