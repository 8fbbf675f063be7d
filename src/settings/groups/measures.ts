/** Bounds of settings. In seconds, all stay far below the 2,147,483 s after which a timer of Node.js fires at once. */

export const hour = 3600;
export const day = 24 * hour;

/** Where nothing happens, these are the only signs of life; `/livez` asks for a restart after five minutes without any. */
export const mostBetweenSigns = 100;

export const mebibyte = 1024 * 1024;
export const gibibyte = 1024 * mebibyte;
