import fc from 'fast-check';
import { firstSeed } from './seed.ts';

/** For the test runner, before each file. */
fc.configureGlobal({ seed: firstSeed() });
