[inputs: ["*.exs", "{lib,test,scripts}/**/*.{ex,exs}"], line_length: 160]
