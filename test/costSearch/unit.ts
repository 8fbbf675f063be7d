/**
 * The unit of what messages cost (D170): the least that an update can cost, which takes as long as `JSON.parse` of 16 KiB of
 * measured values. It changes with the machine, but not with the service.
 */

const bytesOfLeastUpdate = 16_384;

const measured = Array.from({ length: 370 }, (_, index) => `"value${index % 90}":{"value":21.75,"unit":"°C"}`);
const ordinary = `{"type":"pump","version":1,"properties":{"serial":"FP-1",${measured.join()}}}`;
const bytesOfOrdinary = Buffer.byteLength(ordinary);

/** The least update of so many bytes, in bytes that `JSON.parse` reads. */
export const leastUpdate = (bytes: number): number => bytesOfLeastUpdate + bytes;

/** What `JSON.parse` takes for one byte now, in microseconds. */
export function microsecondsPerByte(microseconds: number): number {
  const began = process.cpuUsage();
  for (let times = 1; ; times += 1) {
    JSON.parse(ordinary);
    const spent = spentSince(began);
    if (spent >= microseconds) return spent / times / bytesOfOrdinary;
  }
}

/** Of processor time of this process, in microseconds. */
export function spentSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return user + system;
}
