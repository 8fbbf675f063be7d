{{- define "image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end }}

{{- define "container" -}}
image: {{ include "image" . }}
envFrom:
  - configMapRef: { name: device-messaging }
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "mounts" -}}
volumeMounts:
  - { name: secrets, mountPath: /secrets, readOnly: true }
{{- end }}

{{- define "serviceKeys" -}}
env:
  - { name: HUB_SERVICE_CONNECTION_STRING_FILE, value: /secrets/HUB_SERVICE_CONNECTION_STRING }
  - { name: STORE_CONNECTION_STRING_FILE, value: /secrets/STORE_CONNECTION_STRING }
  - { name: BACKENDS_CLIENT_SECRET_FILE, value: /secrets/BACKENDS_CLIENT_SECRET }
{{ include "mounts" . }}
{{- end }}

{{- define "frontDoorKeys" -}}
env:
  - { name: HUB_SERVICE_CONNECTION_STRING_FILE, value: /secrets/HUB_SERVICE_CONNECTION_STRING }
  - { name: BACKENDS_CLIENT_SECRET_FILE, value: /secrets/BACKENDS_CLIENT_SECRET }
{{ include "mounts" . }}
{{- end }}

{{- define "pod" -}}
serviceAccountName: device-messaging
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.podSpec }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Its dot is the label app.kubernetes.io/name. */}}
{{- define "spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { app.kubernetes.io/name: {{ . }} } }
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { app.kubernetes.io/name: {{ . }} } }
{{- end }}

{{- define "probes" -}}
livenessProbe:
  httpGet: { path: /livez, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: health }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}
