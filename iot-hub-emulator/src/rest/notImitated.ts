/** What IoT Hub and its provisioning service have over HTTPS, and this hub has not, by the form of the path. */
const missing: readonly (readonly [form: RegExp, what: string])[] = [
  [/^\/jobs(\/|$)/i, 'the import and export of devices'],
  [/^\/messages\/servicebound\//i, 'feedback over HTTPS'],
  [/^\/digitaltwins\//i, 'digital twins'],
  [/^(\/[^/]+)?\/(registrations|enrollments|enrollmentgroups)(\/|$)/i, 'the provisioning of devices'],
];

/** What a request wants that this hub does not imitate; undefined when no hub has such a path. */
export const notImitated = (path: string): string | undefined => missing.find(([form]) => form.test(path))?.[1];
