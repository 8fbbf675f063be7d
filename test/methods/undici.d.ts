/** The clock of the pool's own limits. */
declare module 'undici/lib/util/timers.js' {
  const timers: { tick(ms?: number): void };
  export default timers;
}
