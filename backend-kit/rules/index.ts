import { commonRules } from './common.ts';
import { identityRules } from './identities.ts';
import { objectRules } from './objects.ts';
import { lookUpRules, referenceRules, repeatRules, rightRules } from './references.ts';
import type { Rule } from './rule.ts';
import { typeRules } from './types.ts';

/** In the order in which they are tried: what others rely on comes first, deletion last. */
export const rules: readonly Rule[] = [
  ...[...commonRules('tr'), ...typeRules],
  ...[...commonRules('im'), ...objectRules, ...referenceRules, ...lookUpRules, ...rightRules, ...repeatRules],
  ...[...commonRules('pm'), ...identityRules],
];
