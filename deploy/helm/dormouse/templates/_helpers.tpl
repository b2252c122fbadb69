{{- define "dormouse.labels" -}}
app.kubernetes.io/name: dormouse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "dormouse.nodes" -}}
{{ .Release.Name }}-nodes
{{- end -}}
