import { facts } from '../catalogue.ts';
import type { Fact, Probe } from '../fact.ts';
import { prefix } from '../lab/lab.ts';
import { type Permissions, skipped } from '../lab/probe.ts';
import { hostOf, type Target } from '../lab/target.ts';

const isProbed = (fact: Fact, permissions: Permissions): fact is Fact & { readonly check: Probe } =>
  skipped(fact, permissions) === undefined;

/** Of all probes together. */
export const mostDevices = 30;

/** What a run does to a real hub, and what that costs. */
export function announcement(
  target: Target,
  permissions: Permissions,
  only: readonly string[] | undefined,
): readonly string[] {
  const probed = facts.filter((fact) => (only?.includes(fact.id) ?? true) && isProbed(fact, permissions)) as (Fact & {
    readonly check: Probe;
  })[];
  const sharing = new Set<unknown>();
  const messages = probed.reduce((sum, { check }) => {
    const isCounted = check.shares !== undefined && sharing.has(check.shares);
    sharing.add(check.shares);
    return sum + (isCounted ? 0 : (check.messages ?? 0));
  }, 0);
  return [
    `At ${hostOf(target.hub)} this probes ${probed.length} of ${facts.length} facts. What it does:`,
    `  - It creates up to ${mostDevices} devices, whose ids begin with ${prefix}, and removes them at the end, also after Ctrl-C: some ${3 * mostDevices} requests to the registry, of which the hub takes 100 a minute for each unit (S3: 5,000).`,
    `  - It sends ${messages} messages of the daily quota, in units of 4 KB, and reads all partitions in the consumer group ${target.consumerGroup} meanwhile, with whatever comes there.`,
    permissions.mayDisturb.has('readers')
      ? `  - Other readers of ${target.consumerGroup} may lose a partition.`
      : '  - It drives out no other reader: --group names a consumer group of its own, and then it also probes owner levels.',
    permissions.mayDisturb.has('feedback')
      ? '  - Other services may get their feedback later.'
      : '  - It takes no feedback from other services: --feedback probes that, too.',
    ...(target.storage === undefined ? [] : ['  - It creates a container in the storage account, and removes it.']),
    '  - It takes two to five minutes. If it is killed, the devices stay.',
  ];
}
