/** In place of Node's measurements. In the event loop delay that Node measures are the 20 ms of its timer. */
export const monitorEventLoopDelay = () => ({
  ...{ enable: () => true, disable: () => true, reset() {} },
  ...{ min: 720e6, max: 730e6, mean: 724e6, stddev: 706e6 },
  percentile: (percent: number) => (720 + percent / 10) * 1e6,
});

export const getHeapSpaceStatistics = () => [
  { space_name: 'new_space', space_used_size: 2_001, space_size: 2_002 },
  { space_name: 'old_space', space_used_size: 2_003, space_size: 2_004 },
];
