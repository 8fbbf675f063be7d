// the first version that IoT Hub had, and the newest that its pages know
const oldest = '2015-08-15';
const newest = '2021-04-12';

/** Whether a request names a version of the interface that IoT Hub has had: a date, of a preview perhaps. */
export function isApiVersion(text: string | null | undefined): boolean {
  const date = /^(?<date>\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))(-preview)?$/.exec(text ?? '')?.groups?.['date'];
  return date !== undefined && date >= oldest && date <= newest;
}
