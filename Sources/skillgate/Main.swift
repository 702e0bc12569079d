@main
enum Skillgate {
    static func main() {}
}
