/** Settings of a hub that nobody calls. */
export const hub = {
  HUB_EVENTS_CONNECTION_STRING: 'Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=hub',
  HUB_SERVICE_CONNECTION_STRING: 'HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=k',
} as const;
