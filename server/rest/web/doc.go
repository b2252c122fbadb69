// Package web is what the routes of package rest share. It routes a request, checks it against the
// declaration of its route, reads its parameters, headers and body within the limits of the node, and
// writes answers, streams of events and problems. It makes the OpenAPI document of the declarations.
package web
