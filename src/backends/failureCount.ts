/** Counts failures in a row. */
export interface FailureCount {
  /** Counts a failure of this device. @returns whether there are enough failures */
  add(deviceId: string): boolean;
  count(): number;
  forget(): void;
}

/**
 * There are enough when their number is reached and they come from at least two devices: one message alone can cause them.
 * @param enough the number of failures
 */
export function createFailureCount(enough: number): FailureCount {
  let count = 0;
  let firstDevice: string | undefined;
  let acrossDevices = false;

  return {
    add(deviceId) {
      count += 1;
      firstDevice ??= deviceId;
      acrossDevices ||= deviceId !== firstDevice;
      return acrossDevices && count >= enough;
    },
    count: () => count,
    forget() {
      if (count === 0) return;
      count = 0;
      firstDevice = undefined;
      acrossDevices = false;
    },
  };
}
