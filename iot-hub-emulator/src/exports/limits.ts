/** `iot-hub-emulator/limits`: what a hub limits by its tier, and how it holds back what is above. */
export { createThrottle, type Throttle } from '../limits/throttle.ts';
export { type Limits, type Tier, tierLimits } from '../limits/tiers.ts';
