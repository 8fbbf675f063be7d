import { beforeEach } from 'vitest';
import { effort } from '../../src/protocol/jsonReader.ts';

/** What is counted of reading JSON begins at 0 in each test that follows. */
export function withCountedEffort(): typeof effort {
  beforeEach(() => void Object.assign(effort, { characters: 0, values: 0, elements: 0, built: 0 }));
  return effort;
}
