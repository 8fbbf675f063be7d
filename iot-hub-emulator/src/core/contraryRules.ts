import type { StandingFault } from '../faults/schema.ts';
import type { Way, Ways } from '../otherwise/ways.ts';
import type { HubRules } from './core.ts';

/** Ways that the hub's rules have. */
const rules: Partial<Record<Way, HubRules>> = {
  'c2d.expiry': { devicebound: { longestLifeMs: Number.MAX_SAFE_INTEGER } },
  'reading.idle': { idle: { abandonedConnection: 1000, publisher: 1000, devicebound: 1000 } },
};

/** Ways that are faults which stand from the start. */
const faults: Partial<Record<Way, StandingFault>> = {
  'reading.settled': { kind: 'unsettled' },
  'reading.last-offset': { kind: 'partition-info', answer: 'no-offset' },
  'c2d.quick': { kind: 'settle', link: 'c2d', answer: 'delay', ms: 1100 },
  'c2d.quota': { kind: 'settle', link: 'c2d', answer: 'reject', condition: 'amqp:resource-limit-exceeded', times: 3 },
  'c2d.rate': {
    kind: 'settle',
    link: 'c2d',
    answer: 'reject',
    condition: 'com.microsoft:device-container-throttled',
    times: 5,
  },
};

const of = <T>(ways: Ways, known: Partial<Record<Way, T>>): readonly T[] =>
  [...ways].flatMap((way) => known[way] ?? []);

/** The rules of a hub that behaves in these ways, and otherwise as it was given. */
export const rulesOtherwise = (given: HubRules, ways: Ways): HubRules => {
  const others = of(ways, rules);
  const devicebound = Object.assign({}, given.devicebound, ...others.map((other) => other.devicebound));
  const idle = Object.assign({}, given.idle, ...others.map((other) => other.idle));
  return { ...given, devicebound, idle };
};

export const faultsOtherwise = (ways: Ways): readonly StandingFault[] => of(ways, faults);
