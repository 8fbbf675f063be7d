import { timeOfDay } from '../concurrency/clocks.ts';

/** Seconds as people read them. */
export const inTenths = (seconds: number): number => Math.round(10 * seconds) / 10;

/** @param at as `performance.now()` */
export const secondsSince = (at: number): number => inTenths((performance.now() - at) / 1000);

/** @param at as `performance.now()` */
export const shownTime = (at: number): string => new Date(timeOfDay(at)).toISOString();

/** @param at as `performance.now()` */
export const ageOf = (at: number) => ({ since: shownTime(at), seconds: secondsSince(at) });
