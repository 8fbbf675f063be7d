// Preloaded: shifts the clock by CLOCK_HOURS.
const shift = Number(process.env['CLOCK_HOURS']) * 3_600_000;
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }
  static now() {
    return RealDate.now() + shift;
  }
};
