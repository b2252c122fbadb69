package rest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"dormouse/server/rest"
)

func TestALateAPIServesWhatAnEarlyOneDoes(t *testing.T) {
	f := newFake()
	early, err := rest.New(f, f, rest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	late := rest.Late(f, f, rest.Options{})
	for _, path := range []string{"/openapi.json", "/v1/threads/none", "/none"} {
		var told [2]string
		for i, h := range []http.Handler{early, late} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			told[i] = w.Result().Status + w.Body.String()
		}
		if told[0] != told[1] {
			t.Errorf("%s: late %.200q, early %.200q", path, told[1], told[0])
		}
	}
	w := httptest.NewRecorder()
	rest.Late(nil, nil, rest.Options{}).ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	if w.Code != 500 {
		t.Errorf("without a service it answers %d", w.Code)
	}
}

func TestAShutdownEndsTheWatchesOfALateAPI(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{}`).ok(201)
	for _, asked := range []bool{false, true} {
		late := rest.Late(k.fake, k.fake, rest.Options{})
		if asked {
			late.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/threads/t", nil))
		}
		if err := rest.Server(late).Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		late.ServeHTTP(w, httptest.NewRequest("GET", "/v1/threads/t/watch", nil)) // returns once the watch has ended
		if w.Code != 200 && w.Code != 503 {
			t.Errorf("asked before: %v: the watch ends with %d: %s", asked, w.Code, w.Body)
		}
	}
}
