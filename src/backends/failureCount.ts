/** Failures in a row: with no success in between. */
export interface FailureCount {
  /** One more, met by this device. Answers whether they are enough. */
  add(deviceId: string): boolean;
  count(): number;
  forget(): void;
}

/**
 * They are enough when there are so many, and they come from at least two devices: one message alone can provoke them.
 * @param enough their number
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
