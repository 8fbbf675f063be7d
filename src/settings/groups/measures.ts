/** Bounds of settings. Those in seconds are far below 2,147,483 s: timers of Node.js fire at once beyond it. */

export const hour = 3600;
export const day = 24 * hour;

/** Most seconds between two renewals. On an idle service only they prove that it works, and `/livez` fails after five minutes without. */
export const mostBetweenSigns = 100;

export const mebibyte = 1024 * 1024;
export const gibibyte = 1024 * mebibyte;
