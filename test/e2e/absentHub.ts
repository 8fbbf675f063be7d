/** Every setting that a service needs, with a hub and backends that nobody answers for. */
export const absentHubAndBackends = {
  HUB_EVENTS_CONNECTION_STRING:
    'Endpoint=sb://127.0.0.1:1/;SharedAccessKeyName=n;SharedAccessKey=a2V5;EntityPath=h;UseDevelopmentEmulator=true',
  HUB_SERVICE_CONNECTION_STRING: 'HostName=127.0.0.1;SharedAccessKeyName=n;SharedAccessKey=a2V5',
  INFORMATION_MODEL_URL: 'http://127.0.0.1:1',
  TYPE_REGISTRY_URL: 'http://127.0.0.1:1',
  PRINCIPAL_MANAGER_URL: 'http://127.0.0.1:1',
  BACKENDS_TOKEN: 't0ken',
};
