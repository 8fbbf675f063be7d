/**
 * The unit of what messages cost (D170): the least that an update can cost, which takes as long as `JSON.parse` of 16 KiB of
 * measured values. It changes with the machine, but not with the service.
 */

const bytesOfLeastUpdate = 16_384;

const measured = Array.from({ length: 370 }, (_, index) => `"value${index % 90}":{"value":21.75,"unit":"°C"}`);
const ordinary = `{"type":"pump","version":1,"properties":{"serial":"FP-1",${measured.join()}}}`;
const bytesOfOrdinary = Buffer.byteLength(ordinary);

/** What updates of so many bytes cost at least, together, in microseconds. */
export function leastUpdates(sizes: readonly number[], microseconds: number): number {
  const bytes = sizes.reduce((sum, size) => sum + bytesOfLeastUpdate + size, 0);
  const began = process.cpuUsage();
  for (let times = 1; ; times += 1) {
    JSON.parse(ordinary);
    const spent = spentSince(began);
    if (spent >= microseconds) return (spent / times / bytesOfOrdinary) * bytes;
  }
}

/** Of processor time of this process, in microseconds. */
export function spentSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return user + system;
}
