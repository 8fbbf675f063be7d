import { commonRules } from './common.ts';
import { createRules } from './creates.ts';
import { identityRules } from './identities.ts';
import { lookUpRules } from './lookUps.ts';
import { readRules } from './reads.ts';
import { referenceRules } from './references.ts';
import { repeatRules } from './repeats.ts';
import { rightRules } from './rights.ts';
import type { Rule } from './rule.ts';
import { typeRules } from './types.ts';
import { updateRules } from './updates.ts';

/** In the order in which they are tried: what others rely on comes first, deletion last. */
export const rules: readonly Rule[] = [
  ...[...commonRules('tr'), ...typeRules],
  ...[...commonRules('im'), ...createRules, ...readRules, ...updateRules, ...referenceRules],
  ...[...lookUpRules, ...rightRules, ...repeatRules],
  ...[...commonRules('pm'), ...identityRules],
];
