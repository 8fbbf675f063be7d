import { definitions } from './chapters/definitions.ts';
import { events } from './chapters/events.ts';
import { identities } from './chapters/identities.ts';
import { models } from './chapters/models.ts';
import { synchronisation } from './chapters/synchronisation.ts';
import type { Step } from './step.ts';

/** All nine messages from a device's point of view, in the order of the specification. */
export const steps: readonly Step[] = [...models, ...definitions, ...identities, ...events, ...synchronisation];
