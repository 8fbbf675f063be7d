import type { Principals } from '../principalManager/principals.ts';
import type { Types } from '../typeRegistry/types.ts';
import type { Objects } from './objects.ts';

/** What the information model works on. */
export interface Stores {
  readonly types: Types;
  readonly principals: Principals;
  readonly objects: Objects;
}
