/** Bounds of settings. Those in seconds are far below 2,147,483 s: timers of Node.js fire at once beyond it. */

export const hour = 3600;
export const day = 24 * hour;

export const mebibyte = 1024 * 1024;
export const gibibyte = 1024 * mebibyte;
