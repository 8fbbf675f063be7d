// @ts-check
import { channel } from 'node:diagnostics_channel';

/**
 * A plugin of StrykerJS that hands on what it reports, to whatever listens in this process: it loads its plugins by
 * their path, and the program that starts it is a bundle.
 */

const planned = channel('mutation.planned');
const tested = channel('mutation.tested');

export const strykerPlugins = [
  {
    kind: 'Reporter',
    name: 'channel',
    value: {
      /** @param {{ mutantPlans: readonly { mutant: unknown }[] }} event */
      onMutationTestingPlanReady: ({ mutantPlans }) => planned.publish(mutantPlans.map(({ mutant }) => mutant)),
      /** @param {unknown} result */
      onMutantTested: (result) => tested.publish(result),
    },
  },
];
